import { availableParallelism } from 'node:os'
import type { ConnectionCounts } from '../stores.ts'

const maxByDefault = 8

/**
 * One worker for two cores that the system or the container allows this process. Postgres, the event store and what applies
 * events take about as much processor as the workers: on two cores one process answers a third more validates than two, and
 * with a shorter tail. See docs/performance-costs.md.
 */
export const defaultWorkers = (): number =>
  Math.max(1, Math.min(maxByDefault, Math.floor(availableParallelism() / 2)))

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
