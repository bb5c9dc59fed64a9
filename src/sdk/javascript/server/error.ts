/** A call that did not succeed. */
export class KeyledgerError extends Error {
  /** The HTTP status; 0 when no answer came. */
  readonly status: number
  /**
   * For programs: the code of the runtime operations, or `no_answer`, `confirmation_needed`, `confirmation_denied`,
   * `confirmation_expired`; undefined where the server has only a message.
   */
  readonly code: string | undefined
  /** Names the request in the logs of the server. */
  readonly requestId: string | undefined
  readonly retryAfterSeconds: number | undefined

  constructor(
    message: string,
    fields: {
      status: number
      code?: string | undefined
      requestId?: string | undefined
      retryAfterSeconds?: number | undefined
      cause?: unknown
    },
  ) {
    super(message, { cause: fields.cause })
    this.name = 'KeyledgerError'
    this.status = fields.status
    this.code = fields.code
    this.requestId = fields.requestId
    this.retryAfterSeconds = fields.retryAfterSeconds
  }
}
