import { entryOf } from '../transparency/entry.ts'
import { parseBase64 } from '../transparency/note/note.ts'
import type { EventRecord } from '../transparency/record.ts'
import { type Hash, hashBytes, leafHash } from '../transparency/tree/edge.ts'
import { provesInclusion } from '../transparency/tree/proof.ts'
import { type EventName, eventWords, NotProved } from './not-proved.ts'
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
  proveEntry(event, entryOf(event), index, proof, checkpoint)
  return { stream, revision, id, type, at: statedTime(event), index }
}

/**
 * Proves that an entry stands at an index of the log of a checkpoint.
 * @param event whose entry it is, for messages
 * @throws NotProved
 */
export function proveEntry(
  { stream, revision, type }: Pick<EventRecord, 'stream' | 'revision' | 'type'>,
  entry: Uint8Array,
  index: number,
  proof: readonly Hash[],
  checkpoint: TrustedCheckpoint,
): void {
  const name = { index, stream, revision, type }
  if (index >= checkpoint.size)
    throw new NotProved(
      'not_covered',
      `The proof puts ${eventWords(name)} after the ${String(checkpoint.size)} events of the checkpoint. ` +
        'Get the proof again: it belongs to another checkpoint.',
      name,
    )
  if (!provesInclusion(leafHash(entry), index, checkpoint, proof))
    throw new NotProved(
      'differs',
      `The log does not have this content at ${eventWords(name)}. The event was changed, or it was moved, or the proof ` +
        'belongs to another checkpoint.',
      name,
    )
}

/** @returns the hashes of the proof of an event, which is in base64. @throws NotProved */
export function hashesOf(encoded: readonly unknown[], event: EventName): Hash[] {
  return encoded.map((text) => {
    const hash = typeof text === 'string' ? parseBase64(text) : undefined
    if (hash?.length !== hashBytes)
      throw new NotProved(
        'malformed',
        `The proof of ${eventWords(event)} has a malformed hash. Get it again.`,
        event,
      )
    return hash
  })
}
