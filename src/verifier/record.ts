import { entryOf, saltOf } from '../transparency/entry.ts'
import { type EventRecord, recordBytes } from '../transparency/record.ts'
import { type Hash, leafHash } from '../transparency/tree/edge.ts'
import { hasExactly, isObject, textIn } from './json.ts'
import { type EventName, eventWords, NotProved, readingOf } from './not-proved.ts'

const fields = ['stream', 'revision', 'id', 'type', 'data', 'metadata'] as const

/**
 * Reads the canonical record of an event. The same event written in another way would have another hash.
 * @param event whose record it has to be, for messages
 * @throws NotProved
 */
export function readRecord(text: string, event?: EventName): EventRecord {
  // The canonical form has no member twice, so the text need not be searched for one.
  const value = readingOf(recordWords(event), (): unknown => JSON.parse(text), event)
  if (!isRecord(value)) throw malformed('it is not the record of an event', event)
  if (canonicalText(value, event) !== text)
    throw malformed('it is not in the canonical form, in which it was hashed', event)
  return value
}

/** The canonical form refuses half a surrogate pair, numbers that JSON does not have, and a nesting that is too deep. */
function canonicalText(record: EventRecord, event: EventName | undefined): string {
  try {
    return Buffer.from(recordBytes(record)).toString()
  } catch {
    throw malformed('it has a text or a number that no event has', event)
  }
}

const recordWords = (event: EventName | undefined): string =>
  event ? `The record of ${eventWords(event)}` : 'The record'

const malformed = (reason: string, event: EventName | undefined): NotProved =>
  new NotProved('malformed', `${recordWords(event)} was changed: ${reason}. Get it again.`, event)

function isRecord(value: unknown): value is EventRecord {
  return (
    isObject(value) &&
    hasExactly(value, fields) &&
    typeof value.stream === 'string' &&
    Number.isSafeInteger(value.revision) &&
    typeof value.id === 'string' &&
    typeof value.type === 'string'
  )
}

/** Every record begins so, and no entry of another form does. */
const beginning = Buffer.from('{"data":')
const salted = Buffer.from('"salt":"')

/** @returns the leaf of a record in a file; undefined for a line that is no record */
export function leafOfLine(line: Uint8Array): Hash | undefined {
  const bytes = Buffer.from(line.buffer, line.byteOffset, line.length)
  if (!bytes.subarray(0, beginning.length).equals(beginning)) return undefined
  // Only an event with a salt has a leaf that is not simply made of the line; to parse all others would take twice the time.
  if (!bytes.includes(salted)) return leafHash(line)
  try {
    const record = readRecord(textIn('The record', line))
    return leafHash(saltOf(record) === undefined ? line : entryOf(record))
  } catch (error) {
    if (error instanceof NotProved) return undefined
    throw error
  }
}

/** @returns the time that the event itself states; the log does not prove it */
export function statedTime({ data }: EventRecord): string | null {
  return isObject(data) && typeof data.at === 'string' ? data.at : null
}
