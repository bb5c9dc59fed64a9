import { convertToCommandError, ErrorType, isCommandError } from '@eventstore/db-client'
import { status } from '@grpc/grpc-js'
import { TimeoutError } from '../../async/timeout.ts'
import { LedgerUnavailable, type UnavailableReason } from './unavailable.ts'

/** The kinds of errors of the client that callers distinguish. */
export type StoreError =
  /** The append was refused because the stream is at another revision. Nothing was written. */
  | { kind: 'wrong_revision' }
  /** There is no such stream. */
  | { kind: 'no_stream' }
  /** The store failed or did not answer. An append may have been written. */
  | { kind: 'unavailable'; reason: UnavailableReason }
  /** The call is invalid: a retry fails in the same way. */
  | { kind: 'fault' }

/**
 * Classifies the client's errors: its own classes, gRPC errors and plain errors. Any error but a fault may
 * disappear on a retry.
 */
export function classifyError(error: unknown): StoreError {
  if (error instanceof LedgerUnavailable) return unavailable(error.reason ?? 'failed')
  if (error instanceof TimeoutError) return unavailable('no_answer')
  const converted = commandErrorOf(error)
  if (converted instanceof LedgerUnavailable) return unavailable('failed')
  if (converted && isCommandError(converted))
    return byType(converted.type, Number(converted.code), converted.message)
  return isClosedChannel(error) ? unavailable('unreachable') : { kind: 'fault' }
}

/** Returns the error to throw for a failed call. keyledger's own errors are returned unchanged. */
export function failureOf(what: string, error: unknown): unknown {
  const classified = classifyError(error)
  if (classified.kind !== 'unavailable' || error instanceof LedgerUnavailable) return error
  return new LedgerUnavailable(`${what}: ${descriptions[classified.reason]}`, error, classified.reason)
}

const descriptions: Record<UnavailableReason, string> = {
  no_node: 'no node of the event store responds or accepts writes',
  unreachable: 'the event store cannot be reached',
  certificate: 'the certificate of the event store is not trusted',
  no_answer: 'the event store does not respond in time',
  not_ready: 'the node of the event store is not ready',
  unauthenticated: 'the event store rejects the user name or the password',
  denied: 'the user lacks the right to do this in the event store',
  wrong_log: 'the log is not the one that the read models were built from',
  failed: 'the event store ended the call with an error',
}

const unavailable = (reason: UnavailableReason): StoreError => ({ kind: 'unavailable', reason })

/**
 * Converts an error as the client does, which does not convert all of them and fails when a trailer is missing.
 */
function commandErrorOf(error: unknown): Error | undefined {
  if (!(error instanceof Error)) return undefined
  try {
    return convertToCommandError(error)
  } catch {
    return new LedgerUnavailable('the event store ended the call with an error that cannot be read', error)
  }
}

function byType(type: ErrorType, code: number, message: string): StoreError {
  switch (type) {
    case ErrorType.WRONG_EXPECTED_VERSION:
      return { kind: 'wrong_revision' }
    case ErrorType.STREAM_NOT_FOUND:
    case ErrorType.NO_STREAM:
      return { kind: 'no_stream' }
    case ErrorType.MAXIMUM_APPEND_SIZE_EXCEEDED:
    case ErrorType.INVALID_ARGUMENT:
    case ErrorType.INVALID_TRANSACTION:
    case ErrorType.MISSING_REQUIRED_METADATA_PROPERTY:
      return { kind: 'fault' }
    case ErrorType.UNAVAILABLE:
      return unavailable(aboutCertificates.test(message) ? 'certificate' : 'unreachable')
    case ErrorType.DEADLINE_EXCEEDED:
    case ErrorType.TIMEOUT:
      return unavailable('no_answer')
    case ErrorType.NOT_LEADER:
      return unavailable('not_ready')
    case ErrorType.ACCESS_DENIED:
      return unavailable(code === status.UNAUTHENTICATED ? 'unauthenticated' : 'denied')
    default:
      return byCode(code, message)
  }
}

/** Classifies errors that the client reports as unknown. */
function byCode(code: number, message: string): StoreError {
  if (code === status.INVALID_ARGUMENT) return { kind: 'fault' }
  if (code === status.PERMISSION_DENIED) return unavailable('denied')
  if (invalidPosition.test(message)) return { kind: 'fault' }
  return unavailable(/not ready|no leader/i.test(message) ? 'not_ready' : 'failed')
}

/** Whether $all was read from a position without an event. EventStoreDB has no error code for it. */
export const isInvalidPosition = (error: unknown): boolean =>
  error instanceof Error && invalidPosition.test(error.message)

const invalidPosition = /ReadAllResult: InvalidPosition/

/** Matches certificate errors of Node and OpenSSL, which gRPC reports as an unavailable server. */
export const aboutCertificates =
  /certificate|CERT_|altnames|self[- ]signed|unable to verify|unable to get (?:local )?issuer|wrong version number/i

/** Whether gRPC threw its plain error for a call on a closed channel. */
const isClosedChannel = (error: unknown): boolean =>
  error instanceof Error && /^(?:The channel|Channel) has been (?:closed|shut down)/.test(error.message)
