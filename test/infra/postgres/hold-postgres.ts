import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { z } from 'zod'

const Answer = z.union([
  z.object({ url: z.string(), pid: z.number(), adopted: z.boolean() }),
  z.object({ error: z.string() }),
])

export interface Holder {
  readonly answer: z.infer<typeof Answer>
  readonly process: ChildProcess
  /** Stops Postgres and waits for the process. */
  end(): Promise<void>
}

export interface HolderOptions {
  readonly uid?: number
  readonly gid?: number
  readonly script?: string
}

/** Starts `holder.ts` on a directory, optionally as another user. */
export async function holdPostgres(directory: string, options: HolderOptions = {}): Promise<Holder> {
  const { script = fileURLToPath(new URL('holder.ts', import.meta.url)), ...identity } = options
  const child = spawn(process.execPath, [script, directory], {
    ...identity,
    cwd: '/',
    env: { PATH: process.env.PATH },
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const exited = once(child, 'exit')
  for await (const line of createInterface({ input: child.stdout })) {
    return {
      answer: Answer.parse(JSON.parse(line)),
      process: child,
      async end() {
        child.stdin.end()
        await exited
      },
    }
  }
  throw new Error('The holder ended without an answer')
}
