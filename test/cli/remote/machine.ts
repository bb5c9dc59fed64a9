import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { z } from 'zod'
import { type Environment, type Finished, type Host, program, type Running } from '../../harness/process.ts'

/** A machine that is not the host of the ledger: a home of its own, and no data directory. */
export type Machine = {
  home: string
  /** Runs `keyledger <words>` there. */
  run(...words: string[]): Promise<Finished>
  /** The same with `--json`, parsed; throws for any exit code but 0. */
  json<S extends z.ZodType>(schema: S, ...words: string[]): Promise<z.infer<S>>
  /** Starts it in a process of its own, without waiting. */
  start(...words: string[]): Running
}

/** @param environment variables of every command there, such as a token */
export function createMachine(host: Host, environment: Environment = {}): Machine {
  const home = host.path('home')
  mkdirSync(home)
  const own = { HOME: home, KEYLEDGER_DATA_DIR: join(home, 'no-ledger'), ...environment }
  const run = (...words: string[]): Promise<Finished> => host.run(words, own)
  return {
    home,
    run,
    async json(schema, ...words) {
      const { code, stdout, stderr } = await run(...words, '--json')
      if (code !== 0) throw new Error(`keyledger ${words.join(' ')} ended with ${code}: ${stderr}`)
      return schema.parse(JSON.parse(stdout))
    },
    start: (...words) => host.start(['node', program, ...words], own),
  }
}
