/** An event as its bytes stand in the log: nothing is decoded, so that a copy of it is the same to the byte. */
export type RawEvent = {
  id: string
  stream: string
  revision: number
  /** Where it stands in this log. It stands elsewhere in a copy. */
  position: bigint
  type: string
  /** The content type: JSON, or else plain bytes. */
  isJson: boolean
  data: Uint8Array
  metadata: Uint8Array
}

/** What may be written: the store gives the position. */
export type RawEventToWrite = Omit<RawEvent, 'position'>

/** Whether both are the same fact at the same place of the same stream. Positions differ between logs. */
export function isSameEvent(one: RawEventToWrite, other: RawEventToWrite): boolean {
  return (
    one.id === other.id &&
    one.stream === other.stream &&
    one.revision === other.revision &&
    one.type === other.type &&
    one.isJson === other.isJson &&
    Buffer.compare(one.data, other.data) === 0 &&
    Buffer.compare(one.metadata, other.metadata) === 0
  )
}
