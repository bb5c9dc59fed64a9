import type { KeyObject } from 'node:crypto'
import type { Pool } from 'pg'
import { repeat } from '../async/repeat.ts'
import { checkpointText } from '../transparency/checkpoint.ts'
import { formatNote } from '../transparency/note/note.ts'
import { signNote } from '../transparency/note/verifier.ts'
import { type Hash, rootOf, sameHash } from '../transparency/tree/edge.ts'
import type { TreeState } from './tree-store.ts'

/** Who signs the checkpoints of a log, and under which name. */
export type NotarySigner = { origin: string; privateKeys: readonly KeyObject[] }

/** A signed checkpoint, as it is published. */
export type SignedCheckpoint = { size: number; root: Hash; note: string; signedAt: string }

/** The tree would contradict a checkpoint that was signed earlier; nothing was signed. */
class WouldContradict extends Error {}

/** @returns the last checkpoint; undefined before the first */
export async function readCheckpoint(db: Pool): Promise<SignedCheckpoint | undefined> {
  const { rows } = await db.query<{ size: string; root: Buffer; note: string; signed_at: string }>({
    name: 'notary-checkpoint',
    text: 'select size, root, note, signed_at from notary.checkpoint',
  })
  const [row] = rows
  return row && { size: Number(row.size), root: row.root, note: row.note, signedAt: row.signed_at }
}

/**
 * Signs the state of a tree that is stored already, and publishes it. The signature of the same state is the same
 * (RFC 8032), so a crash in between changes nothing.
 * @param position of the tree's last event in the log
 * @param keep keeps it elsewhere, before anyone can read it here
 * @throws WouldContradict when a larger tree was signed, or another one of this size
 */
export async function signCheckpoint(
  db: Pool,
  { origin, privateKeys }: NotarySigner,
  { edge, last: lastEvent }: TreeState,
  now: Date,
  position: bigint | null = null,
  keep: (note: string) => void = () => undefined,
): Promise<SignedCheckpoint> {
  const root = rootOf(edge)
  const last = await readCheckpoint(db)
  if (last && (last.size > edge.size || (last.size === edge.size && !sameHash(last.root, root))))
    throw new WouldContradict(
      `a checkpoint of ${String(last.size)} events was signed, and the tree has other ones`,
    )
  const text = checkpointText({ origin, size: edge.size, root })
  const note = formatNote({ text, signatures: privateKeys.map((key) => signNote(origin, key, text)) })
  keep(note)
  const { rowCount } = await db.query(
    `with signed as (
       insert into notary.checkpoint (size, root, note, signed_at, origin)
       select $1, $2, $3, $4, $5 where exists (select from notary.tree where origin = $5 and size >= $1)
       on conflict (only_row) do update set size = $1, root = $2, note = $3, signed_at = $4
         where checkpoint.size < $1 or (checkpoint.size = $1 and checkpoint.root = $2)
       returning size
     )
     insert into notary.checkpoints (size, note, signed_at, last_stream, last_revision, last_position)
     select size, $3, $4, $6, $7, $8 from signed
     on conflict (size) do update set note = $3`,
    [edge.size, root, note, now, origin, lastEvent?.stream, lastEvent?.revision, position],
  )
  if (rowCount !== 1) throw new WouldContradict('another process has continued the tree')
  return { size: edge.size, root, note, signedAt: now.toISOString() }
}

/**
 * Keeps where the last event of the published checkpoint is, when the database has the checkpoint without it: after a copy, a
 * resumption, or a move to another event store. No receipt could be made otherwise until the next event.
 * @param position of the event in the log
 */
export async function keepLastEvent(
  db: Pool,
  { origin }: Pick<NotarySigner, 'origin'>,
  { edge: { size }, last }: TreeState,
  position: bigint | null = null,
): Promise<void> {
  await db.query({
    name: 'notary-keep-last-event',
    text: `insert into notary.checkpoints (size, note, signed_at, last_stream, last_revision, last_position)
           select c.size, c.note, c.signed_at, $3, $4, $5 from notary.checkpoint c
           where c.origin = $1 and c.size = $2 and not exists (select from notary.checkpoints k where k.size = c.size)
           on conflict do nothing`,
    values: [origin, size, last?.stream, last?.revision, position],
  })
}

const thinMs = 3_600_000

/** Removes checkpoints that are not kept, every hour until the signal aborts. */
export const keepThinning = (db: Pool, now: () => Date, signal: AbortSignal): Promise<void> =>
  repeat(() => thinCheckpoints(db, now()), thinMs, signal)

/** @returns the last event that a checkpoint covers; undefined when it is no longer kept */
export async function lastEventOf(
  db: Pool,
  size: number,
): Promise<{ stream: string; revision: number } | undefined> {
  const { rows } = await db.query<{ last_stream: string; last_revision: bigint }>({
    name: 'notary-last-event',
    text: 'select last_stream, last_revision from notary.checkpoints where size = $1',
    values: [size],
  })
  const [row] = rows
  return row && { stream: row.last_stream, revision: Number(row.last_revision) }
}

/** Keeps the last checkpoint, those of the last day, and the first of each hour before. */
async function thinCheckpoints(db: Pool, now: Date): Promise<void> {
  await db.query(
    `delete from notary.checkpoints where signed_at < $1::timestamptz - interval '1 day'
     and size < (select size from notary.checkpoint) and size not in (
       select min(size) from notary.checkpoints group by date_trunc('hour', signed_at)
     )`,
    [now],
  )
}
