import type { Pool } from 'pg'
import type { LogEntry } from '../../src/domain/recorded.ts'
import type { LogReader } from './log.ts'
import { readCheckpoint } from './read-models.ts'
import { startOfLog } from './schema.ts'

type ParkedStream = {
  stream: string
  revision: number
  position: string
  type: string
  problem: string
  parkedAt: string
}

type ProjectionLag = {
  /** -1 before the first event. */
  checkpoint: string
  head: string
  /** Events that are not applied yet, counted up to 1000. */
  lagEvents: number
  /** When the first of them was recorded; null when there is none or it cannot be read. */
  behindSince: string | null
}

export type ProjectionStatus = ProjectionLag & { parked: ParkedStream[] }

const maxCounted = 1000

/** The checkpoint and lag of the read models, and the parked streams. */
export async function projectionStatus(db: Pool, log: LogReader): Promise<ProjectionStatus> {
  return { ...(await projectionLag(db, log)), parked: await readParked(db) }
}

/** The checkpoint and lag of the read models. */
export async function projectionLag(db: Pool, log: LogReader): Promise<ProjectionLag> {
  const checkpoint = await readCheckpoint(db)
  const head = (await log.head()) ?? startOfLog
  const waiting =
    head > checkpoint
      ? await log.readPage(checkpoint === startOfLog ? undefined : checkpoint, maxCounted)
      : undefined
  return {
    checkpoint: String(checkpoint),
    head: String(head),
    lagEvents: waiting?.entries.length ?? 0,
    behindSince: recordedAt(waiting?.entries[0]),
  }
}

const recordedAt = (entry: LogEntry | undefined): string | null =>
  entry?.readable ? entry.metadata.at : null

async function readParked(db: Pool): Promise<ParkedStream[]> {
  const { rows } = await db.query<
    Omit<ParkedStream, 'position' | 'parkedAt'> & { position: bigint; parked_at: string }
  >('select stream, revision, position, type, problem, parked_at from parked order by position')
  return rows.map(({ parked_at, position, ...row }) => ({
    ...row,
    position: String(position),
    parkedAt: parked_at,
  }))
}
