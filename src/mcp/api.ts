import type { DescribedOperation } from '../description/operation.ts'

/** A request to the management interface. */
export type ApiRequest = {
  method: DescribedOperation['method']
  path: string
  /** Undefined values are left out. */
  query?: Readonly<Record<string, unknown>>
  body?: object
  /** The approved confirmation with which a gated operation is executed. */
  confirmationId?: string | undefined
  /** Makes a repeated POST return the first answer. */
  idempotencyKey?: string | undefined
}

/** An answer of the management interface. */
export type ApiAnswer = {
  status: number
  /** The parsed JSON; undefined for an answer without a body. */
  body: unknown
  /** Seconds after which a refused request may be repeated. */
  retryAfter?: number | undefined
  /** The stable code of a refusal. */
  errorCode?: string | undefined
}

/** Sends a request with the token of the agent. @throws when no answer arrived */
export type CallApi = (request: ApiRequest) => Promise<ApiAnswer>
