import pg, { type ClientBase } from 'pg'
import type { LogEntry, Recorded } from '../../src/domain/recorded.ts'
import type { Projector } from '../projector.ts'

/** Told of each stream that has to be set aside. */
export type OnParked = (parked: { stream: string; revision: number; type: string; problem: string }) => void

/**
 * Applies part of the log inside the caller's transaction. An event that cannot be read or applied parks its
 * stream: that event and the stream's later ones are left out until a rebuild, everything else goes on.
 * @throws whatever the database throws for reasons that have nothing to do with an event; the round is repeated
 */
export async function applyEntries(
  db: ClientBase,
  projectors: readonly Projector[],
  entries: readonly LogEntry[],
  onParked: OnParked,
): Promise<void> {
  const parked = await parkedStreams(db)
  const usable: Recorded[] = []
  for (const entry of entries) {
    if (parked.has(entry.stream)) continue
    if (entry.readable) usable.push(entry)
    else {
      parked.add(entry.stream)
      await park(db, { ...entry, problem: entry.problem }, onParked)
    }
  }
  if (await applied(db, projectors, usable)) return
  // Some event in here does not fit. One at a time tells which, twice in case it was only once.
  for (const entry of usable) {
    if (parked.has(entry.stream)) continue
    if ((await applied(db, projectors, [entry])) || (await applied(db, projectors, [entry]))) continue
    parked.add(entry.stream)
    await park(db, { ...entry, type: entry.event.type, problem: 'cannot be applied' }, onParked)
  }
}

/** Whether the events could be applied; if not, the transaction is as it was before. */
async function applied(
  db: ClientBase,
  projectors: readonly Projector[],
  entries: readonly Recorded[],
): Promise<boolean> {
  if (entries.length === 0) return true
  await db.query('savepoint before_events')
  try {
    for (const projector of projectors) await projector.apply(db, entries)
    return true
  } catch (error) {
    if (!isAboutTheEvents(error)) throw error
    await db.query('rollback to savepoint before_events')
    return false
  }
}

/**
 * SQLSTATE classes of data that does not fit: 21 cardinality, 22 data exception, 23 constraint violation. Anything
 * else that the database says is its own trouble and passes; what is no database error is a fault in a projector.
 * @see https://www.postgresql.org/docs/current/errcodes-appendix.html
 */
function isAboutTheEvents(error: unknown): boolean {
  if (error instanceof pg.DatabaseError) return ['21', '22', '23'].includes(error.code?.slice(0, 2) ?? '')
  return error instanceof TypeError || error instanceof RangeError
}

async function parkedStreams(db: ClientBase): Promise<Set<string>> {
  const { rows } = await db.query<{ stream: string }>({
    name: 'parked-streams',
    text: 'select stream from parked',
  })
  return new Set(rows.map(({ stream }) => stream))
}

async function park(
  db: ClientBase,
  entry: { stream: string; revision: number; position: bigint; type: string; problem: string },
  onParked: OnParked,
): Promise<void> {
  const { stream, revision, position, type, problem } = entry
  await db.query(
    'insert into parked (stream, revision, position, type, problem) values ($1, $2, $3, $4, $5)',
    [stream, revision, position, type, problem],
  )
  onParked({ stream, revision, type, problem })
}
