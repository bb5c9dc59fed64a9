import { convertToCommandError, ErrorType, isCommandError } from '@eventstore/db-client'
import { status } from '@grpc/grpc-js'
import { TimeoutError } from '../async/timeout.ts'
import { LedgerUnavailable, type UnavailableReason } from './unavailable.ts'

/** What an error of the client means for the one who called it. */
export type StoreError =
  /** The append was refused: the stream is at another revision. Nothing was written. */
  | { kind: 'wrong_revision' }
  /** There is no such stream. */
  | { kind: 'no_stream' }
  /** The store could not do it at this moment. An append may have been written. */
  | { kind: 'unavailable'; reason: UnavailableReason }
  /** The call itself is wrong: another try fails in the same way. */
  | { kind: 'fault' }

/**
 * The one place that knows the errors of the client: its own classes, and the gRPC errors and plain errors that it
 * throws as well. Everything but a fault of the call itself may work later.
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

/** The error that a failed call is thrown as. Errors of our own making stay what they are. */
export function failureOf(what: string, error: unknown): unknown {
  const trouble = classifyError(error)
  if (trouble.kind !== 'unavailable' || error instanceof LedgerUnavailable) return error
  return new LedgerUnavailable(`${what}: ${descriptions[trouble.reason]}`, error, trouble.reason)
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

/** As the client would convert it, which it does not always do. It fails where a trailer is missing. */
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

/** What the client only calls unknown. */
function byCode(code: number, message: string): StoreError {
  if (code === status.INVALID_ARGUMENT) return { kind: 'fault' }
  if (code === status.PERMISSION_DENIED) return unavailable('denied')
  if (invalidPosition.test(message)) return { kind: 'fault' }
  return unavailable(/not ready|no leader/i.test(message) ? 'not_ready' : 'failed')
}

/** $all was to be read from a position that is no event's. EventStoreDB has no code for it. */
export const isInvalidPosition = (error: unknown): boolean =>
  error instanceof Error && invalidPosition.test(error.message)

const invalidPosition = /ReadAllResult: InvalidPosition/

/** What Node and OpenSSL say of a certificate, of which gRPC makes an unavailable server. */
export const aboutCertificates =
  /certificate|CERT_|altnames|self[- ]signed|unable to verify|unable to get (?:local )?issuer|wrong version number/i

/** What gRPC throws, bare, at a call on a channel that was closed. */
const isClosedChannel = (error: unknown): boolean =>
  error instanceof Error && /^(?:The channel|Channel) has been (?:closed|shut down)/.test(error.message)
