import type { KeyObject } from 'node:crypto'
import type { Pool } from 'pg'
import { checkpointText } from '../transparency/checkpoint.ts'
import { publicBytesOf, signatureTypes } from '../transparency/note/keys.ts'
import { formatNote } from '../transparency/note/note.ts'
import { formatVerifierKey, signNote, verifierKey } from '../transparency/note/verifier.ts'
import { type Edge, rootOf } from '../transparency/tree/edge.ts'
import { type Hash, sameHash } from '../transparency/tree/hash.ts'

/** Who signs the checkpoints of a log, and under which name. */
export type NotarySigner = { origin: string; privateKey: KeyObject }

/** A signed checkpoint, as it is published. */
export type SignedCheckpoint = { size: number; root: Hash; note: string; signedAt: Date }

/** The tree would contradict a checkpoint that was signed earlier; nothing was signed. */
class WouldContradict extends Error {}

/** @returns the key by which others verify the checkpoints, as they configure it */
export const publicKeyText = ({ origin, privateKey }: NotarySigner): string =>
  formatVerifierKey(verifierKey(origin, signatureTypes.ed25519, publicBytesOf(privateKey)))

/** @returns the last checkpoint; undefined before the first */
export async function readCheckpoint(db: Pool): Promise<SignedCheckpoint | undefined> {
  const { rows } = await db.query<{ size: string; root: Buffer; note: string; signed_at: Date }>({
    name: 'notary-checkpoint',
    text: 'select size, root, note, signed_at from notary.checkpoint',
  })
  const [row] = rows
  return row && { size: Number(row.size), root: row.root, note: row.note, signedAt: row.signed_at }
}

/**
 * Signs the state of a tree that is stored already, and publishes it. The signature of the same state is the same
 * (RFC 8032), so a crash in between changes nothing.
 * @throws WouldContradict when a larger tree was signed, or another one of this size
 */
export async function signCheckpoint(
  db: Pool,
  { origin, privateKey }: NotarySigner,
  edge: Edge,
  now: Date,
): Promise<SignedCheckpoint> {
  const root = rootOf(edge)
  const last = await readCheckpoint(db)
  if (last && (last.size > edge.size || (last.size === edge.size && !sameHash(last.root, root))))
    throw new WouldContradict(
      `a checkpoint of ${String(last.size)} events was signed, and the tree has other ones`,
    )
  const text = checkpointText({ origin, size: edge.size, root })
  const note = formatNote({ text, signatures: [signNote(origin, privateKey, text)] })
  const { rowCount } = await db.query(
    `insert into notary.checkpoint (size, root, note, signed_at) values ($1, $2, $3, $4)
     on conflict (only_row) do update set size = $1, root = $2, note = $3, signed_at = $4
       where checkpoint.size < $1 or (checkpoint.size = $1 and checkpoint.root = $2)`,
    [edge.size, root, note, now],
  )
  if (rowCount !== 1) throw new WouldContradict('another process has signed a later checkpoint')
  return { size: edge.size, root, note, signedAt: now }
}
