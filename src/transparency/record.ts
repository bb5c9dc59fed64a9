import canonicalize from 'canonicalize'

/** An event as it is proved: everything that the event store keeps of it, except for its position in `$all`. */
export type EventRecord = {
  stream: string
  revision: number
  id: string
  type: string
  /** As they are recorded: sealed values are hashed as sealed. */
  data: unknown
  metadata: unknown
}

/**
 * @returns the record of an event: JSON in the canonical form of RFC 8785
 * @throws Error for a value that JSON does not have
 */
export const recordBytes = ({ stream, revision, id, type, data, metadata }: EventRecord): Uint8Array =>
  canonicalBytes({ stream, revision, id, type, data, metadata })

/** @returns a value as JSON in the canonical form of RFC 8785. @throws Error for a value that JSON does not have */
export function canonicalBytes(value: unknown): Uint8Array {
  const text = canonicalize(value)
  if (text === undefined) throw new Error('the value has no canonical form')
  return Buffer.from(text)
}
