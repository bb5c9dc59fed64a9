import { type EventRecord, recordBytes } from '../transparency/record.ts'
import { NotProved } from './not-proved.ts'

const fields = ['stream', 'revision', 'id', 'type', 'data', 'metadata'] as const

/**
 * Reads the canonical record of an event. The same event written in another way would have another hash.
 * @throws NotProved
 */
export function readRecord(text: string): EventRecord {
  const value = parsed(text)
  if (!isRecord(value)) throw malformed('it is not the record of an event')
  const canonical = Buffer.from(recordBytes(value)).toString()
  if (canonical !== text) throw malformed('it is not in the canonical form, in which it was hashed')
  return value
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw malformed('it is not JSON')
  }
}

const malformed = (reason: string): NotProved =>
  new NotProved('malformed', `The record was changed: ${reason}. Get it again.`)

function isRecord(value: unknown): value is EventRecord {
  if (!isObject(value) || Object.keys(value).length !== fields.length) return false
  if (fields.some((field) => !Object.hasOwn(value, field))) return false
  return (
    typeof value.stream === 'string' &&
    Number.isSafeInteger(value.revision) &&
    typeof value.id === 'string' &&
    typeof value.type === 'string'
  )
}

/** Whether a value of JSON is an object. */
export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** @returns the time that the event itself states; the log does not prove it */
export function statedTime({ data }: EventRecord): string | null {
  return isObject(data) && typeof data.at === 'string' ? data.at : null
}
