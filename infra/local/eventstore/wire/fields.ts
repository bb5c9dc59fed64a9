import type shared from '@eventstore/db-client/generated/shared_pb.js'
import { deletedRevision } from '../storage/event.ts'
import { invalidArgument } from './errors.ts'

const uuidPattern = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

/** Decodes a stream name, which is sent as bytes. @throws RpcError for an invalid name */
export function parseStreamName(identifier: shared.StreamIdentifier | undefined): string {
  const name = Buffer.from(identifier?.getStreamName_asU8() ?? []).toString()
  if (name === '' || name === '$all') throw invalidArgument(`'${name}' is not a stream name.`)
  return name
}

/**
 * Decodes an id, sent as text or as two 64-bit halves, into lower-case text.
 * @throws RpcError for an invalid id
 */
export function parseUuid(uuid: shared.UUID | undefined): string {
  const structured = uuid?.getStructured()
  const text = structured
    ? joinHalves(structured.getMostSignificantBits(), structured.getLeastSignificantBits())
    : (uuid?.getString() ?? '').toLowerCase()
  if (!uuidPattern.test(text)) throw invalidArgument(`'${text}' is not a UUID.`)
  return text
}

function joinHalves(most: string, least: string): string {
  const hex = [most, least]
    .map((half) => BigInt.asUintN(64, BigInt(half)).toString(16).padStart(16, '0'))
    .join('')
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
}

/** Splits an id into two signed 64-bit numbers. */
export function splitHalves(uuid: string): { most: string; least: string } {
  const hex = uuid.replaceAll('-', '')
  const half = (digits: string): string => BigInt.asIntN(64, BigInt(`0x${digits}`)).toString()
  return { most: half(hex.slice(0, 16)), least: half(hex.slice(16)) }
}

const largestInt64 = '9223372036854775807'

/**
 * Parses a 64-bit number from the generated code. Numbers beyond the safe integers are beyond every revision
 * and position, so the largest safe integer stands for them.
 */
export function parseUint64(decimal: string): number {
  return Math.min(Number(decimal), Number.MAX_SAFE_INTEGER)
}

/** Encodes a revision; a tombstone's is the largest int64. */
export function revisionOnWire(revision: number): number | string {
  return revision === deletedRevision ? largestInt64 : revision
}

const varint = 0
const lengthDelimited = 2

/** The tag of a field that holds a number. */
export function number(field: number): number {
  return (field << 3) | varint
}

/** The tag of a field that holds text, bytes or a message. */
export function bytes(field: number): number {
  return (field << 3) | lengthDelimited
}
