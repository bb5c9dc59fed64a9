import { isDeepStrictEqual } from 'node:util'
import { entryOf, entryOfParts, openPart, saltOf } from '../transparency/entry.ts'
import { parseBase64 } from '../transparency/note/note.ts'
import type { EventRecord } from '../transparency/record.ts'
import { hashBytes } from '../transparency/tree/edge.ts'
import { provesInclusion } from '../transparency/tree/proof.ts'
import { hasExactly, isObject } from './json.ts'
import { eventWords, NotProved } from './not-proved.ts'
import { hashesOf, proveEntry } from './proved-event.ts'
import { readRecord } from './record.ts'
import type { TrustedCheckpoint } from './trust.ts'

/** An event of an archive. */
export type ArchivedEvent = {
  stream: string
  revision: number
  type: string
  index: number
  /** As far as it is proved; empty when it is not an object, or nothing is. */
  data: Record<string, unknown>
  /**
   * `nothing`: all of it is proved. `key`: all but the hash of its key, which the archive withholds. `event`: the archive
   * withholds the whole record, and nothing of the event is proved.
   */
  withheld: 'nothing' | 'key' | 'event'
  /** Whether it was recorded with a salt. */
  isSalted: boolean
}

/**
 * Events with the hash of a key, which may be that of an imported one, or with the id of such an event. Of any other the record
 * has to be there.
 */
const mayBeWithheld = new Set(['LicenseImported', 'LicenseReminted', 'KeyMailAsked', 'DeliveryScheduled'])

/** What the line of an event has whose record is withheld. */
const ofWithheld = ['stream', 'revision', 'position', 'type', 'metadata', 'data'] as const

type Line = Record<string, unknown> & { stream: string; revision: number; type: string }

/** The line of an event, and what proves it; null when the archive has nothing. */
type Pair = { line: unknown; proof: unknown }

/**
 * Verifies a line of events with its proof.
 * @throws NotProved
 */
export function proveLine({ line, proof }: Pair, checkpoint: TrustedCheckpoint): ArchivedEvent {
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
  const hashes = hashesOf(proof.proof, name)
  if (hasExactly(proof, ['index', 'record', 'proof']) && typeof proof.record === 'string') {
    const record = readRecord(proof.record, name)
    comparePlaces(line, record)
    proveEntry(record, entryOf(record), index, hashes, checkpoint)
    compare(line, { ...record, data: openPart(record).data })
    return {
      ...name,
      index,
      data: objectIn(record.data),
      withheld: 'nothing',
      isSalted: saltOf(record) !== undefined,
    }
  }
  if (!mayBeWithheld.has(type))
    throw new NotProved('missing', `The record of ${eventWords(name)} is missing.`, name)
  if (
    hasExactly(proof, ['index', 'open', 'sealed', 'proof']) &&
    typeof proof.open === 'string' &&
    typeof proof.sealed === 'string'
  ) {
    const open = readRecord(proof.open, name)
    comparePlaces(line, open)
    proveEntry(open, entryOfParts(open, proof.sealed), index, hashes, checkpoint)
    compare(line, open)
    return { ...name, index, data: objectIn(open.data), withheld: 'key', isSalted: true }
  }
  const leaf = typeof proof.leaf === 'string' ? parseBase64(proof.leaf) : undefined
  if (!hasExactly(proof, ['index', 'leaf', 'proof']) || leaf?.length !== hashBytes)
    throw new NotProved('malformed', `The proof of ${eventWords(name)} cannot be read.`, name)
  if (!hasExactly(line, ofWithheld))
    throw new NotProved(
      'added',
      `The line of ${eventWords(name)} has other members than that of a withheld record has.`,
      name,
    )
  if (!provesInclusion(leaf, index, checkpoint, hashes))
    throw new NotProved('differs', `The withheld record of ${eventWords(name)} is not in the log.`, name)
  return { ...name, index, data: {}, withheld: 'event', isSalted: false }
}

const objectIn = (data: unknown): Record<string, unknown> => (isObject(data) ? data : {})

function isLine(value: unknown): value is Line {
  return (
    isObject(value) &&
    typeof value.stream === 'string' &&
    Number.isSafeInteger(value.revision) &&
    Number(value.revision) >= 0 &&
    typeof value.type === 'string' &&
    typeof value.position === 'string' &&
    /^\d{1,20}$/.test(value.position)
  )
}

/** @throws NotProved when a proof is of another event */
function comparePlaces(line: Line, { stream, revision, type }: EventRecord): void {
  if (stream === line.stream && revision === line.revision) return
  const name = { stream: line.stream, revision: line.revision, type: line.type }
  throw new NotProved(
    'order',
    `${eventWords(name)} has the proof of ${eventWords({ stream, revision, type })}: the events were moved.`,
    name,
  )
}

/** The event as people read it is the proved one. @throws NotProved */
function compare(
  { position: _, ...line }: Line,
  { stream, revision, id, type, metadata, data }: EventRecord,
): void {
  if (isDeepStrictEqual(line, { stream, revision, id, type, metadata, data })) return
  const name = { stream: line.stream, revision: line.revision, type: line.type }
  throw new NotProved('differs', `${eventWords(name)} differs from what the log has.`, name)
}
