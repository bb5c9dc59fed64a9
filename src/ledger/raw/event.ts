/** An event as the bytes in the log. Nothing is decoded, so a copy is identical to the byte. */
export type RawEvent = {
  id: string
  stream: string
  revision: number
  /** The position in this log; a copy has other positions. */
  position: bigint
  type: string
  /** Whether the content type is JSON; otherwise it is plain bytes. */
  isJson: boolean
  data: Uint8Array
  metadata: Uint8Array
}

/** An event to write; the store assigns the position. */
export type RawEventToWrite = Omit<RawEvent, 'position'>

/** Whether both are the same event at the same revision of the same stream. Positions may differ. */
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
