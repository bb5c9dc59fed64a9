import type { RawEvent } from '../ledger/raw/event.ts'
import { entryOf } from '../transparency/entry.ts'
import { type EventRecord, recordBytes } from '../transparency/record.ts'
import { leafHash } from '../transparency/tree/edge.ts'
import type { Leaf } from './tree-store.ts'

/** @returns the record of an event, which a reader compares with what the log has */
export const recordOf = (event: RawEvent): Uint8Array => bytesFrom(event, recordBytes)

/**
 * Data and metadata without a canonical form are taken as base64: bytes that are no JSON, no UTF-8, or a text with half a surrogate
 * pair. The ledger seldom or never writes them, and the notary must not stop at one.
 */
function bytesFrom(event: RawEvent, make: (record: EventRecord) => Uint8Array): Uint8Array {
  const { stream, revision, id, type, isJson, data, metadata } = event
  const place = { stream, revision, id, type }
  try {
    const found = metadata.length === 0 ? null : parsed(metadata)
    return make({ ...place, data: isJson ? parsed(data) : asBase64(data), metadata: found })
  } catch {
    return make({
      ...place,
      data: isJson && isCanonical(data) ? parsed(data) : asBase64(data),
      metadata: metadata.length === 0 ? null : isCanonical(metadata) ? parsed(metadata) : asBase64(metadata),
    })
  }
}

const strict = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

const parsed = (bytes: Uint8Array): unknown => JSON.parse(strict.decode(bytes))

const asBase64 = (bytes: Uint8Array) => ({ base64: Buffer.from(bytes).toString('base64') })

function isCanonical(bytes: Uint8Array): boolean {
  try {
    recordBytes({ stream: '', revision: 0, id: '', type: '', data: parsed(bytes), metadata: null })
    return true
  } catch {
    return false
  }
}

/** @returns the leaf of an event */
export const leafOf = (event: RawEvent): Leaf => ({
  place: { stream: event.stream, revision: event.revision, id: event.id },
  hash: leafHash(bytesFrom(event, entryOf)),
})
