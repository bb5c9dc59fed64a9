import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import type { TestProject } from 'vitest/node'
import { z } from 'zod'

declare module 'vitest' {
  export interface ProvidedContext {
    /** A Postgres where tests may create databases: see `createTestDatabase`. */
    postgresUrl: string
  }
}

const Ready = z.object({ url: z.string() })

/**
 * Gives the whole test run one Postgres: the one that KEYLEDGER_TEST_DATABASE_URL names, whose user may create
 * databases, or an embedded one in a temporary directory that is gone after the run.
 */
export default async function setup(project: TestProject): Promise<(() => Promise<void>) | undefined> {
  const given = process.env.KEYLEDGER_TEST_DATABASE_URL
  if (given) {
    project.provide('postgresUrl', given)
    return undefined
  }
  const { guardian, url } = await startGuardian()
  project.provide('postgresUrl', url)
  return async () => {
    const exited = once(guardian, 'exit')
    guardian.stdin?.end()
    await exited
  }
}

/** In a process group of its own: Ctrl-C ends the test run, and the guardian ends because of that. */
async function startGuardian(): Promise<{ guardian: ChildProcess; url: string }> {
  const script = fileURLToPath(new URL('postgres-guardian.ts', import.meta.url))
  const guardian = spawn(process.execPath, [script], { detached: true, stdio: ['pipe', 'pipe', 'inherit'] })
  return { guardian, url: await firstLine(guardian.stdout) }
}

async function firstLine(output: Readable): Promise<string> {
  for await (const line of createInterface({ input: output })) return Ready.parse(JSON.parse(line)).url
  throw new Error('The Postgres for the tests did not start: its message stands above')
}
