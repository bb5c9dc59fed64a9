import { parseBase64 } from '../transparency/note/note.ts'
import { type Hash, hashBytes, leafHash } from '../transparency/tree/hash.ts'
import { provesInclusion } from '../transparency/tree/proof.ts'
import { eventWords, NotProved } from './not-proved.ts'
import { readRecord, statedTime } from './record.ts'
import type { TrustedCheckpoint } from './trust.ts'

/** An event that is in the log. */
export type ProvedEvent = {
  stream: string
  revision: number
  id: string
  type: string
  /** When it happened, as the event itself states. */
  at: string | null
  /** Its place in the log, from 0. */
  index: number
}

/**
 * Proves that a record stands at an index of the log of a checkpoint.
 * @throws NotProved
 */
export function proveRecord(
  record: string,
  index: number,
  proof: readonly Hash[],
  checkpoint: TrustedCheckpoint,
): ProvedEvent {
  const event = readRecord(record)
  const { stream, revision, id, type } = event
  const name = { index, stream, revision, type }
  if (index >= checkpoint.size)
    throw new NotProved(
      'not_covered',
      `The proof puts ${eventWords(name)} after the ${String(checkpoint.size)} events of the checkpoint. ` +
        'Get the proof again: it belongs to another checkpoint.',
      name,
    )
  if (!provesInclusion(leafHash(Buffer.from(record)), index, checkpoint, proof))
    throw new NotProved(
      'differs',
      `The log does not have this content at ${eventWords(name)}. The event was changed, or it was moved, or the proof ` +
        'belongs to another checkpoint.',
      name,
    )
  return { stream, revision, id, type, at: statedTime(event), index }
}

/** @returns the hashes of a proof in base64. @throws NotProved */
export function hashesOf(encoded: readonly unknown[]): Hash[] {
  return encoded.map((text) => {
    const hash = typeof text === 'string' ? parseBase64(text) : undefined
    if (hash?.length !== hashBytes)
      throw new NotProved('malformed', 'A proof has a malformed hash. Get it again.')
    return hash
  })
}
