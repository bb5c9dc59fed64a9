import type { ConnectionCounts } from '../stores.ts'

/**
 * Connections of one worker to Postgres at most. A few workers have what a process alone has; more of them share what
 * two have, down to the least with which requests do not wait for each other, so that eight and their parent stay below
 * the hundred that Postgres allows by default.
 *
 * | workers | db | look-ups | projections | locks | of all and the parent's 18 |
 * | 2 | 10 | 3 | 1 | 3 | 52 |
 * | 4 | 5 | 2 | 1 | 2 | 58 |
 * | 8 | 4 | 2 | 1 | 2 | 90 |
 */
export function connectionsOfWorker(workers: number): ConnectionCounts {
  const few = workers <= 2
  return {
    db: Math.min(10, Math.max(4, Math.floor(20 / workers))),
    hotDb: few ? 3 : 2,
    // The parent folds; a worker only when the parent is stuck.
    projectionDb: 1,
    locksDb: few ? 3 : 2,
  }
}
