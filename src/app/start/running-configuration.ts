import { createHash, randomBytes } from 'node:crypto'
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import { isAlive } from '../../../infra/local/postgres/process-table.ts'
import { setIn, variables } from '../../config.ts'

const Noted = z.object({ pid: z.int(), salt: z.string(), set: z.record(z.string(), z.string()) })

/** They are of single commands, or find this very file. */
const ofCommands =
  /^KEYLEDGER_(?:DATA_DIR|SERVER|TOKEN|PROFILE|COPY_TO|COPY_DATABASE_TO|IMPORT_API_KEY|MIGRATION_DATABASE_URL)$/
const ofServers = variables.filter((name) => !ofCommands.test(name))

const runOf = (dataDirectory: string) => join(dataDirectory, 'run')

/** Two bytes of a salted hash: enough to see that values differ, too little to find a secret by trying. */
const traceOf = (salt: string, value: string): string =>
  createHash('sha256').update(`${salt}\n${value}`).digest('hex').slice(0, 4)

type Environment = Readonly<Record<string, string | undefined>>

function tracesOf(environment: Environment, salt: string): Record<string, string> {
  const set = setIn(environment).filter(([name]) => !ofCommands.test(name))
  return Object.fromEntries(set.map(([name, value]) => [name, traceOf(salt, value)]))
}

/**
 * Notes in the data directory which variables this server was started with, for `keyledger doctor` in another shell.
 * @returns a function that removes the note
 */
export function noteConfiguration(dataDirectory: string, environment: Environment): () => void {
  const salt = randomBytes(16).toString('hex')
  const path = join(runOf(dataDirectory), `server-${process.pid}.json`)
  const noted: z.infer<typeof Noted> = { pid: process.pid, salt, set: tracesOf(environment, salt) }
  writeFileSync(path, JSON.stringify(noted), { mode: 0o600 })
  return () => rmSync(path, { force: true })
}

/** The servers that run on a data directory, each with the variables in which an environment differs from its own. */
export function compareWithRunning(
  dataDirectory: string,
  environment: Environment,
): { pid: number; different: string[] }[] {
  return notesIn(runOf(dataDirectory)).map(({ pid, salt, set }) => {
    const own = tracesOf(environment, salt)
    return { pid, different: ofServers.filter((name) => own[name] !== set[name]) }
  })
}

/** A killed server leaves its note behind. */
function notesIn(directory: string): z.infer<typeof Noted>[] {
  return filesIn(directory)
    .filter((name) => /^server-\d+\.json$/.test(name))
    .flatMap((name) => {
      const { data } = Noted.safeParse(jsonIn(join(directory, name)))
      return data && isAlive(data.pid) ? [data] : []
    })
}

function filesIn(directory: string): string[] {
  try {
    return readdirSync(directory)
  } catch {
    return []
  }
}

/** Undefined when the server has just ended, or is writing it. */
function jsonIn(path: string): unknown {
  try {
    return JSON.parse(readFileSync(path, 'utf8'))
  } catch {
    return undefined
  }
}
