import { isDeepStrictEqual } from 'node:util'
import { parseBase64 } from '../transparency/note/note.ts'
import { provesInclusion } from '../transparency/tree/proof.ts'
import { eventWords, NotProved } from './not-proved.ts'
import { hashesOf, proveRecord } from './proved-event.ts'
import { isObject, readRecord } from './record.ts'
import type { TrustedCheckpoint } from './trust.ts'

/** An event of an archive whose place in the log is proved. */
export type ArchivedEvent = {
  stream: string
  revision: number
  type: string
  index: number
  /** Its content is not proved, because it has the hash of an imported key. */
  isWithheld: boolean
}

/** The only events with the hash of an imported key. Of any other the record has to be there. */
const mayBeWithheld = new Set(['LicenseImported', 'KeyMailAsked'])

type Line = Record<string, unknown> & { stream: string; revision: number; type: string }

/**
 * Verifies a line of events with its proof.
 * @param proof `{index, record, proof}`, or `{index, leaf, proof}` without the record; null when the archive has none
 * @throws NotProved
 */
export function proveLine(line: unknown, proof: unknown, checkpoint: TrustedCheckpoint): ArchivedEvent {
  if (!isLine(line))
    throw new NotProved('malformed', 'A line of events is not an event. Get the archive again.')
  const { stream, revision, type } = line
  const name = { stream, revision, type }
  if (proof === null)
    throw new NotProved(
      'not_covered',
      `${eventWords(name)} has no proof. It was added, or it was newer than the last checkpoint of ` +
        `${String(checkpoint.size)} events: then get the archive again, a few seconds later.`,
      name,
    )
  if (!isObject(proof) || !Number.isSafeInteger(proof.index) || !Array.isArray(proof.proof))
    throw new NotProved('malformed', `The proof of ${eventWords(name)} cannot be read.`, name)
  const index = Number(proof.index)
  const hashes = hashesOf(proof.proof)
  if (typeof proof.record === 'string') {
    proveRecord(proof.record, index, hashes, checkpoint)
    compare(line, proof.record)
    return { ...name, index, isWithheld: false }
  }
  const leaf = typeof proof.leaf === 'string' ? parseBase64(proof.leaf) : undefined
  if (!leaf || !mayBeWithheld.has(type))
    throw new NotProved('missing', `The record of ${eventWords(name)} is missing.`, name)
  if (!provesInclusion(leaf, index, checkpoint, hashes))
    throw new NotProved('differs', `${eventWords(name)} is not at this place of the log.`, name)
  return { ...name, index, isWithheld: true }
}

function isLine(value: unknown): value is Line {
  return (
    isObject(value) &&
    typeof value.stream === 'string' &&
    Number.isSafeInteger(value.revision) &&
    typeof value.type === 'string'
  )
}

/** The event as people read it is the proved one. @throws NotProved */
function compare({ position: _, ...line }: Line, record: string): void {
  const { stream, revision, id, type, metadata, data } = readRecord(record)
  const name = { stream: line.stream, revision: line.revision, type: line.type }
  if (stream !== line.stream || revision !== line.revision)
    throw new NotProved(
      'order',
      `${eventWords(name)} has the proof of ${eventWords({ stream, revision, type })}: the events were moved.`,
      name,
    )
  const shown = isObject(data) ? withoutKeyHash(data) : data
  if (!isDeepStrictEqual(line, { stream, revision, id, type, metadata, data: shown }))
    throw new NotProved('differs', `${eventWords(name)} differs from what the log has.`, name)
}

function withoutKeyHash({ keyHash: _, ...data }: Record<string, unknown>): Record<string, unknown> {
  return data
}
