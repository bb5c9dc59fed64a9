import { CommandUnavailable, exitCode } from '../../terminal/exit-codes.ts'

type Details = { status: number; requestId?: string | undefined; oauthError?: string | undefined }

/** A server refused a request. The message says what is wrong and what to do. */
export class RemoteError extends Error {
  readonly status: number
  /** To report with an internal error of the server. */
  readonly requestId: string | undefined
  /** The code of OAuth, in answers of the device authorization. */
  readonly oauthError: string | undefined

  constructor(message: string, { status, requestId, oauthError }: Details) {
    super(message)
    this.name = 'RemoteError'
    this.status = status
    this.requestId = requestId
    this.oauthError = oauthError
  }

  /** The exit code of the command. */
  get code(): number {
    if (this.status === 400) return exitCode.usage
    return this.status >= 500 || this.status === 429 || this.status === 408
      ? exitCode.unavailable
      : exitCode.refused
  }
}

/** Whether the same request may succeed a moment later. */
export const isPassing = (error: unknown): error is Error =>
  error instanceof CommandUnavailable || (error instanceof RemoteError && error.code === exitCode.unavailable)

/** The error for an answer, with the server's own message. */
export function refusalOf(status: number, body: unknown, headers: Headers): RemoteError {
  const requestId = headers.get('request-id') ?? undefined
  const oauthError =
    typeof body === 'object' && body !== null && 'error' in body && typeof body.error === 'string'
      ? body.error
      : undefined
  const message = `${messageIn(status, body)}${adviceFor(status, requestId)}`
  return new RemoteError(message, { status, requestId, oauthError })
}

function messageIn(status: number, body: unknown): string {
  if (typeof body !== 'object' || body === null) return `The server answered with ${status}.`
  const error = 'error' in body ? body.error : undefined
  if (typeof error === 'string') return error
  if (typeof error === 'object' && error !== null && 'message' in error) return String(error.message)
  return `The server answered with ${status}.`
}

function adviceFor(status: number, requestId: string | undefined): string {
  if (status === 401) return '\nSign in again: keyledger login --server <address>'
  if (status === 429) return '\nWait a moment and run the command again.'
  if (status === 500 && requestId !== undefined) return `\nReport it with this id: ${requestId}`
  return ''
}
