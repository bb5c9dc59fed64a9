import { Metadata, type StatusObject, status } from '@grpc/grpc-js'
import type { ExpectedVersion } from '../engine/version-check.ts'
import { noRevision } from '../storage/event.ts'

/** An RPC error: gRPC sends the code and details, and the client builds its error from the trailers. */
export class RpcError extends Error implements StatusObject {
  readonly code: status
  readonly details: string
  readonly metadata = new Metadata()

  constructor(code: status, details: string, trailers: Record<string, string> = {}) {
    super(details)
    this.code = code
    this.details = details
    for (const [key, value] of Object.entries(trailers)) this.metadata.set(key, toAscii(value))
  }
}

export function invalidArgument(details: string): RpcError {
  return new RpcError(status.INVALID_ARGUMENT, details)
}

export function missingEventProperty(property: string): RpcError {
  return new RpcError(status.INVALID_ARGUMENT, `Required metadata property '${property}' is missing.`, {
    exception: 'missing-required-metadata-property',
    'required-metadata-properties': 'type,content-type',
  })
}

export function streamDeleted(stream: string): RpcError {
  if (!isAscii(stream)) return unwritableTrailers()
  return new RpcError(status.FAILED_PRECONDITION, `Event stream '${stream}' is deleted.`, {
    exception: 'stream-deleted',
    'stream-name': stream,
  })
}

/** A delete with a wrong expected version. An append reports it in its answer. */
export function wrongExpectedVersion(stream: string, expected: ExpectedVersion, head: number): RpcError {
  const expectedNumber = versionNumber(expected)
  return new RpcError(
    status.FAILED_PRECONDITION,
    `Delete failed due to WrongExpectedVersion. Stream: ${stream}, Expected version: ${expectedNumber}, Actual version: ${head}`,
    {
      exception: 'wrong-expected-version',
      'stream-name': stream,
      'expected-version': String(expectedNumber),
      ...(head !== noRevision && { 'actual-version': String(head) }),
    },
  )
}

export function maximumAppendSizeExceeded(bytes: number): RpcError {
  return new RpcError(status.INVALID_ARGUMENT, `Maximum Append Size of ${bytes} Exceeded.`, {
    exception: 'maximum-append-size-exceeded',
    'maximum-append-size': String(bytes),
  })
}

/** With EventStoreDB's message of a read. */
export function invalidPosition(): RpcError {
  return new RpcError(status.UNKNOWN, 'Unexpected ReadAllResult: InvalidPosition')
}

/** With EventStoreDB's message of a subscription. */
export function invalidStart(): RpcError {
  return new RpcError(status.INVALID_ARGUMENT, 'Trying to read from an invalid position.')
}

/** The client is gone, so it does not receive this. */
export function callCancelled(): RpcError {
  return new RpcError(status.CANCELLED, 'The call was broken off')
}

/** EventStoreDB's error for unexpected mistakes, as in a filter's expression. */
export function handlerFailed(): RpcError {
  return new RpcError(status.UNKNOWN, 'Exception was thrown by handler.')
}

/** The client's error when EventStoreDB cannot write a stream name into its trailers. */
function unwritableTrailers(): RpcError {
  return new RpcError(status.UNKNOWN, 'Received HTTP status code 500')
}

export function shuttingDown(): RpcError {
  return new RpcError(status.UNAVAILABLE, 'Server is shutting down')
}

/** Converts any other error, such as a full disk, with a message for the client's log. */
export function toRpcError(error: unknown): RpcError {
  if (error instanceof RpcError) return error
  const reason = error instanceof Error ? error.message : String(error)
  return new RpcError(status.UNKNOWN, `The event store failed: ${reason}`)
}

function versionNumber(expected: ExpectedVersion): number {
  switch (expected) {
    case 'no_stream':
      return -1
    case 'any':
      return -2
    case 'stream_exists':
      return -4
    default:
      return expected
  }
}

const isAscii = (value: string): boolean => /^[\x20-\x7e]*$/.test(value)

/** HTTP/2 trailers are ASCII; other characters of a stream name are percent-encoded. */
function toAscii(value: string): string {
  return value.replace(/[^\x20-\x7e]+/gu, (other) => encodeURIComponent(other.toWellFormed()))
}
