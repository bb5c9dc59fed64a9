import { availableParallelism } from 'node:os'
import type { ConnectionCounts } from '../stores.ts'

const maxByDefault = 8

/** One worker per core that the system or the container allows this process. */
export const defaultWorkers = (): number => Math.min(maxByDefault, availableParallelism())

/**
 * The pool sizes of one worker. Up to two workers have nearly those of a single process; more workers share that
 * number, down to a minimum at which requests do not wait for each other. Eight workers and their parent stay below
 * the 100 connections that Postgres allows by default.
 *
 * | workers | db | lookups | projections | locks | total with the parent's 18 |
 * | 2 | 10 | 3 | 1 | 3 | 52 |
 * | 4 | 5 | 2 | 1 | 2 | 58 |
 * | 8 | 4 | 2 | 1 | 2 | 90 |
 */
export function connectionsOfWorker(workers: number): ConnectionCounts {
  const few = workers <= 2
  return {
    db: Math.min(10, Math.max(4, Math.floor(20 / workers))),
    hotDb: few ? 3 : 2,
    // The parent applies events; a worker does so only when the parent is stuck.
    projectionDb: 1,
    locksDb: few ? 3 : 2,
  }
}
