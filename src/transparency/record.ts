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
 * @returns the bytes whose leaf hash stands in the tree: JSON in the canonical form of RFC 8785
 * @throws Error for a value that JSON does not have
 */
export function recordBytes({ stream, revision, id, type, data, metadata }: EventRecord): Uint8Array {
  const text = canonicalize({ stream, revision, id, type, data, metadata })
  if (text === undefined) throw new Error('the event has no canonical form')
  return Buffer.from(text)
}
