import type { DescribedOperation } from '../description/operation.ts'
import { parametersOf, pathWith } from '../description/path.ts'
import type { ApiAnswer, ApiRequest } from './api.ts'

/** The request of an operation. @param values what it takes: those that are not in its path are in its query or body */
export function requestTo(
  { method, path, query, paged, body }: DescribedOperation,
  values: Readonly<Record<string, unknown>>,
): ApiRequest {
  const inPath = parametersOf(path)
  const rest = Object.fromEntries(Object.entries(values).filter(([name]) => !inPath.includes(name)))
  return {
    method,
    path: pathWith(path, values),
    ...((query ?? paged) && { query: rest }),
    ...(body && { body: rest }),
  }
}

/** @returns the path with the query parameters that have a value */
export function pathOf({ path, query = {} }: ApiRequest): string {
  const present = Object.entries(query).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, String(value)]],
  )
  return present.length === 0 ? path : `${path}?${new URLSearchParams(present).toString()}`
}

/** @returns the headers of a request besides its token */
export const headersOf = ({ confirmationId, idempotencyKey }: ApiRequest): Record<string, string> => ({
  ...(confirmationId !== undefined && { 'x-service-confirmation': confirmationId }),
  ...(idempotencyKey !== undefined && { 'idempotency-key': idempotencyKey }),
})

type Received = {
  status: number
  text: string
  retryAfter: string | null | undefined
  errorCode: string | null | undefined
}

/** @throws SyntaxError for a body that is no JSON */
export function answerFrom({ status, text, retryAfter, errorCode }: Received): ApiAnswer {
  const seconds = retryAfter == null ? Number.NaN : Number(retryAfter)
  return {
    status,
    body: text === '' ? undefined : (JSON.parse(text) as unknown),
    retryAfter: Number.isNaN(seconds) ? undefined : seconds,
    errorCode: errorCode ?? undefined,
  }
}
