import type { RawEvent } from '../ledger/raw/event.ts'
import { recordBytes } from '../transparency/record.ts'
import { leafHash } from '../transparency/tree/hash.ts'
import type { Leaf } from './tree-store.ts'

/**
 * The bytes of an event that are hashed. What is no JSON, which the ledger never writes, is taken as base64.
 * @throws SyntaxError when an event says that it is JSON and is not
 */
export function recordOf(event: RawEvent): Uint8Array {
  const { stream, revision, id, type, isJson, data, metadata } = event
  return recordBytes({
    stream,
    revision,
    id,
    type,
    data: isJson ? parsed(data) : { base64: Buffer.from(data).toString('base64') },
    metadata: metadata.length === 0 ? null : parsed(metadata),
  })
}

const parsed = (bytes: Uint8Array): unknown => JSON.parse(Buffer.from(bytes).toString())

/** @returns the leaf of an event */
export const leafOf = (event: RawEvent): Leaf => ({
  place: { stream: event.stream, revision: event.revision, id: event.id },
  hash: leafHash(recordOf(event)),
})
