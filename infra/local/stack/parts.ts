import { findLocalPostgres, startPostgres } from '../postgres/postgres.ts'
import type { DataDirectory } from './data-directory.ts'
import { findEventStore, startEventStore } from './event-store.ts'

/** What the stack needs of a running part. */
export interface RunningPart {
  readonly url: string
  /** The address for those who change the schemas, where that is another one. */
  readonly migrationUrl?: string
  isRunning(): boolean
  boundLog(): void
  stop(): Promise<void>
}

/** A part of the stack: a process of its own that outlives whoever started it. */
export interface Part {
  readonly name: string
  /** Starts it or adopts the running one. Its address follows from the directory alone. */
  start(): Promise<RunningPart>
  find(): Promise<RunningPart | undefined>
}

/** The part's Postgres: see `startPostgres`. */
export function postgresPart(directories: DataDirectory, log: (message: string) => void): Part {
  return {
    name: 'Postgres',
    start: () => startPostgres({ directory: directories.postgres, log }),
    find: async () => findLocalPostgres(directories.postgres),
  }
}

/** The part's event store: see `startEventStore`. */
export function eventStorePart(directories: DataDirectory, program: string | undefined): Part {
  return {
    name: 'event store',
    start: () => startEventStore({ directories, program }),
    find: () => findEventStore(directories),
  }
}
