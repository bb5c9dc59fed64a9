import { findLocalPostgres, startPostgres } from '../postgres/postgres.ts'
import type { DataDirectory } from './data-directory.ts'
import { findEventStore, startEventStore } from './event-store.ts'

/** A running part, as the stack uses it. */
export type RunningPart = {
  readonly url: string
  /** The URL for schema changes, if it is different. */
  readonly migrationUrl?: string
  isRunning(): boolean
  boundLog(): void
  stop(): Promise<void>
}

/** A part of the stack: a process that outlives the process that started it. */
export type Part = {
  readonly name: string
  /** Starts it or adopts the running one. Its address depends only on the directory. */
  start(): Promise<RunningPart>
  find(): Promise<RunningPart | undefined>
}

/** Postgres as a part: see `startPostgres`. */
export function postgresPart(directories: DataDirectory, log: (message: string) => void): Part {
  return {
    name: 'Postgres',
    start: () => startPostgres({ directory: directories.postgres, log }),
    find: async () => findLocalPostgres(directories.postgres),
  }
}

/** The event store as a part: see `startEventStore`. */
export function eventStorePart(directories: DataDirectory, program: string | undefined): Part {
  return {
    name: 'event store',
    start: () => startEventStore({ directories, program }),
    find: () => findEventStore(directories),
  }
}
