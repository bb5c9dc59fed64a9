import { status } from '@grpc/grpc-js'
import protobuf from 'protobufjs/minimal.js'
import type { ExpectedVersion } from '../engine/version-check.ts'
import { noRevision } from '../storage/event.ts'
import { bytes, number } from './fields.ts'

/**
 * `BatchAppendResp`, encoded by hand because its errors are `google.protobuf.Any`, whose class the client
 * library does not export.
 */

export type BatchAppendResult =
  | { kind: 'written'; revision: number; position: number | undefined }
  | { kind: 'wrong_version'; expected: ExpectedVersion; head: number }
  | { kind: 'deleted' }
  | { kind: 'timeout' }
  | { kind: 'too_large'; maximumBytes: number }
  | { kind: 'bad_request'; message: string }
  | { kind: 'unknown'; message: string }

export type BatchAppendReply = {
  correlationId: string
  stream: string
  result: BatchAppendResult
}

export function encodeBatchAppendReply({ correlationId, stream, result }: BatchAppendReply): Uint8Array {
  const writer = protobuf.Writer.create()
  writer.uint32(bytes(1)).fork().uint32(bytes(2)).string(correlationId).ldelim()
  if (result.kind === 'written') {
    writeSuccess(writer.uint32(bytes(3)).fork(), result.revision, result.position)
  } else {
    writeStatus(writer.uint32(bytes(2)).fork(), stream, result)
  }
  writer.ldelim()
  writeStreamIdentifier(writer.uint32(bytes(4)).fork(), stream).ldelim()
  return writer.finish()
}

function writeSuccess(writer: protobuf.Writer, revision: number, position: number | undefined): void {
  if (revision === noRevision) writeEmpty(writer, 2)
  else writer.uint32(number(1)).uint64(revision)
  if (position === undefined) {
    writeEmpty(writer, 4)
  } else {
    writer.uint32(bytes(3)).fork()
    writer.uint32(number(1)).uint64(position)
    writer.uint32(number(2)).uint64(position)
    writer.ldelim()
  }
}

type Failure = Exclude<BatchAppendResult, { kind: 'written' }>

/** `google.rpc.Status`: a code, a message, and the error itself as `Any`. */
function writeStatus(writer: protobuf.Writer, stream: string, failure: Failure): void {
  const { code, type } = failureStatus[failure.kind]
  writer.uint32(number(1)).int32(code)
  writer.uint32(bytes(2)).string('message' in failure ? failure.message : type)
  writer.uint32(bytes(3)).fork()
  writer.uint32(bytes(1)).string(`type.googleapis.com/event_store.client.${type}`)
  writeDetails(writer.uint32(bytes(2)).fork(), stream, failure)
  writer.ldelim()
  writer.ldelim()
}

const failureStatus = {
  wrong_version: { code: status.FAILED_PRECONDITION, type: 'WrongExpectedVersion' },
  deleted: { code: status.FAILED_PRECONDITION, type: 'StreamDeleted' },
  timeout: { code: status.DEADLINE_EXCEEDED, type: 'Timeout' },
  too_large: { code: status.INVALID_ARGUMENT, type: 'MaximumAppendSizeExceeded' },
  bad_request: { code: status.INVALID_ARGUMENT, type: 'BadRequest' },
  unknown: { code: status.UNKNOWN, type: 'Unknown' },
} as const

function writeDetails(writer: protobuf.Writer, stream: string, failure: Failure): void {
  switch (failure.kind) {
    case 'wrong_version':
      writeWrongVersion(writer, failure.expected, failure.head)
      break
    case 'deleted':
      writeStreamIdentifier(writer.uint32(bytes(1)).fork(), stream).ldelim()
      break
    case 'too_large':
      writer.uint32(number(1)).uint32(failure.maximumBytes)
      break
    case 'bad_request':
      writer.uint32(bytes(1)).string(failure.message)
      break
    case 'timeout':
    case 'unknown':
      break
  }
}

function writeWrongVersion(writer: protobuf.Writer, expected: ExpectedVersion, head: number): void {
  if (head === noRevision) writeEmpty(writer, 2)
  else writer.uint32(number(1)).uint64(head)
  if (typeof expected === 'number') writer.uint32(number(3)).uint64(expected)
  else writeEmpty(writer, { any: 4, stream_exists: 5, no_stream: 6 }[expected])
}

function writeStreamIdentifier(writer: protobuf.Writer, stream: string): protobuf.Writer {
  return writer.uint32(bytes(3)).string(stream)
}

function writeEmpty(writer: protobuf.Writer, field: number): void {
  writer.uint32(bytes(field)).uint32(0)
}
