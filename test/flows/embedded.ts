import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import { z } from 'zod'
import { findLocalPostgres } from '../../infra/local/postgres/postgres.ts'
import type { Environment } from '../harness/process.ts'

const Endpoint = z.object({ url: z.string(), pid: z.int().positive() })

/** The URL of the embedded event store of a data directory; undefined if it has never run. */
export function eventStoreOf({ KEYLEDGER_DATA_DIR = '' }: Environment) {
  try {
    const text = readFileSync(join(KEYLEDGER_DATA_DIR, 'eventstore/endpoint.json'), 'utf8')
    return Endpoint.parse(JSON.parse(text))
  } catch {
    return undefined
  }
}

export function postmasterOf({ KEYLEDGER_DATA_DIR = '' }: Environment): number {
  const [pid] = readFileSync(join(KEYLEDGER_DATA_DIR, 'postgres/data/postmaster.pid'), 'utf8').split('\n')
  return z.coerce.number().int().positive().parse(pid)
}

/** A connection to the embedded Postgres of a data directory; the caller ends it. */
export async function connectTo({ KEYLEDGER_DATA_DIR = '' }: Environment): Promise<pg.Client> {
  const running = findLocalPostgres(join(KEYLEDGER_DATA_DIR, 'postgres'))
  const session = new pg.Client({ connectionString: running?.url })
  await session.connect()
  return session
}
