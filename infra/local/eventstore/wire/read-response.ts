import protobuf from 'protobufjs/minimal.js'
import type { RecordedEvent } from '../storage/event.ts'
import { bytes, number, revisionOnWire, splitHalves } from './fields.ts'

/**
 * `ReadResp`, encoded field by field: it is sent once per event, and the generated code takes several times as
 * long. Field numbers are those of `streams.proto`.
 */

/** An event as a read returns it: from the log, or from the link in the log. */
export type ResolvedEvent = {
  event: RecordedEvent | undefined
  link?: RecordedEvent
  position: number
}

export function encodeEvent({ event, link, position }: ResolvedEvent, structuredIds: boolean): Uint8Array {
  const writer = protobuf.Writer.create()
  writer.uint32(bytes(1)).fork()
  if (event) writeRecordedEvent(writer.uint32(bytes(1)).fork(), event, structuredIds).ldelim()
  if (link) writeRecordedEvent(writer.uint32(bytes(2)).fork(), link, structuredIds).ldelim()
  writer.uint32(number(3)).uint64(position)
  writer.ldelim()
  return writer.finish()
}

export function encodeConfirmation(subscriptionId: string): Uint8Array {
  const writer = protobuf.Writer.create()
  writer.uint32(bytes(2)).fork().uint32(bytes(1)).string(subscriptionId).ldelim()
  return writer.finish()
}

export function encodeCheckpoint(position: number): Uint8Array {
  const writer = protobuf.Writer.create()
  writer.uint32(bytes(3)).fork()
  writer.uint32(number(1)).uint64(position)
  writer.uint32(number(2)).uint64(position)
  writer.ldelim()
  return writer.finish()
}

export function encodeStreamNotFound(stream: string): Uint8Array {
  const writer = protobuf.Writer.create()
  writer.uint32(bytes(4)).fork()
  writer.uint32(bytes(1)).fork().uint32(bytes(3)).string(stream).ldelim()
  writer.ldelim()
  return writer.finish()
}

export const caughtUp = Buffer.from([bytes(8), 0])
export const fellBehind = Buffer.from([bytes(9), 0])

function writeRecordedEvent(
  writer: protobuf.Writer,
  event: RecordedEvent,
  structuredIds: boolean,
): protobuf.Writer {
  writeId(writer.uint32(bytes(1)).fork(), event.id, structuredIds).ldelim()
  writer.uint32(bytes(2)).fork().uint32(bytes(3)).string(event.stream).ldelim()
  writer.uint32(number(3)).uint64(revisionOnWire(event.revision))
  writer.uint32(number(4)).uint64(event.position)
  writer.uint32(number(5)).uint64(event.position)
  writeMetadataEntry(writer, 'type', event.type)
  writeMetadataEntry(writer, 'content-type', event.isJson ? 'application/json' : 'application/octet-stream')
  writeMetadataEntry(writer, 'created', `${event.createdMs}0000`)
  if (event.metadata.length > 0) writer.uint32(bytes(7)).bytes(event.metadata)
  if (event.data.length > 0) writer.uint32(bytes(8)).bytes(event.data)
  return writer
}

function writeId(writer: protobuf.Writer, id: string, structured: boolean): protobuf.Writer {
  if (!structured) return writer.uint32(bytes(2)).string(id)
  const { most, least } = splitHalves(id)
  writer.uint32(bytes(1)).fork()
  writer.uint32(number(1)).int64(most)
  writer.uint32(number(2)).int64(least)
  return writer.ldelim()
}

function writeMetadataEntry(writer: protobuf.Writer, key: string, value: string): void {
  writer.uint32(bytes(6)).fork()
  writer.uint32(bytes(1)).string(key)
  writer.uint32(bytes(2)).string(value)
  writer.ldelim()
}
