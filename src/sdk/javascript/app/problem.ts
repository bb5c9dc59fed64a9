import { isRecord, isSeconds } from '../keyset.ts'
import type { FileDoubt } from './offline/take.ts'
import type { Clock } from './ports.ts'
import type { Answered } from './request.ts'
import { type NotCovered, notCoveredIn } from './updates.ts'

/** Why a call did not do what it should, for programs. The state says what it means for the app. */
export type ProblemCode =
  /** No answer came in time. */
  | 'offline'
  /** The server does not work at the moment. */
  | 'unavailable'
  /** Too many calls; nothing is sent again before `retryAfterMs`. */
  | 'rate_limited'
  /** What came is no answer of the server, or not a newer one: a proxy or a sign-in page of a network, perhaps. */
  | 'not_genuine'
  /** The SDK key, the tenant id or the product id of the app is wrong. */
  | 'misconfigured'
  /** The tenant may not activate licenses. */
  | 'forbidden'
  | 'no_license'
  | 'no_trial'
  /** The client has no `baseUrl`, so it sends nothing. */
  | 'no_server'
  /** The device has a license file: `release` gives its seat back. */
  | 'has_file'
  | FileDoubt
  | RefusedCode

/** The license itself refuses. */
type RefusedCode =
  | 'not_found'
  | 'revoked'
  | 'suspended'
  | 'expired'
  /** The app was built after the updates of the license ended. */
  | 'build_not_covered'
  | 'reminted'
  | 'inactive'
  | 'seat_limit_reached'
  /** The floating seat ran out, or its device has taken another since. */
  | 'seat_lost'
  /** The seats are of people: the key is of a person without one, or another person uses this device. */
  | 'assigned_to_another'
  /** No more seats may be borrowed. */
  | 'borrow_limit_reached'
  | 'plan_limit'
  | 'refused'

export type Problem = {
  code: ProblemCode
  /** In English, for logs and support. */
  message: string
  retryAfterMs?: number | undefined
  /** With `build_not_covered`, as the server has said it. */
  notCovered?: NotCovered | undefined
  /** With `seat_limit_reached` of a license with floating seats: how many wait for one, this device with them. */
  waiting?: number | undefined
}

const refusedCodes: Readonly<Record<RefusedCode, true>> = {
  not_found: true,
  revoked: true,
  suspended: true,
  expired: true,
  build_not_covered: true,
  reminted: true,
  inactive: true,
  seat_limit_reached: true,
  seat_lost: true,
  assigned_to_another: true,
  borrow_limit_reached: true,
  plan_limit: true,
  refused: true,
}

const isRefusedCode = (value: unknown): value is RefusedCode =>
  typeof value === 'string' && Object.hasOwn(refusedCodes, value)

/** Whether sending the same again may help. */
export const isPassing = ({ code }: Problem): boolean =>
  code === 'offline' || code === 'unavailable' || code === 'rate_limited' || code === 'not_genuine'

/** The problem that an answer without success stands for. */
export function problemOf(answered: Answered | undefined): Problem {
  if (!answered) return { code: 'offline', message: 'the license server did not answer in time' }
  const { status, body } = answered
  const { retry_after: retryAfter, waiting } = isRecord(body) ? body : {}
  const retryAfterMs = answered.retryAfterMs ?? (isSeconds(retryAfter) ? retryAfter * 1000 : undefined)
  const reason = isRecord(body) && typeof body.error === 'string' ? body.error : undefined
  const notCovered = notCoveredIn(body)
  const of = (code: ProblemCode, message = reason ?? `the license server answered ${status}`): Problem => ({
    code,
    message,
    ...(retryAfterMs !== undefined && { retryAfterMs }),
    ...(code === 'build_not_covered' && { notCovered }),
    ...(code === 'seat_limit_reached' && typeof waiting === 'number' && { waiting }),
  })
  if (status === 429) return of('rate_limited')
  if (status >= 500) return of('unavailable')
  if ((status < 400 && !notCovered) || reason === undefined)
    return of('not_genuine', 'this is no answer of the license server')
  if (isRecord(body) && isRefusedCode(body.reason)) return of(body.reason)
  if (status === 403) return of('forbidden')
  if (status === 401 || status === 404 || status === 400) return of('misconfigured')
  return of('refused')
}

/**
 * How long to wait before an attempt, with full jitter: anything between 0 and the bound.
 *
 * | attempt | bound, from 500 ms up to 8 s |
 * | ------- | ---------------------------- |
 * | 0       | 0.5 s                        |
 * | 1       | 1 s                          |
 * | 4       | 8 s                          |
 * | 9       | 8 s                          |
 */
export const fullJitter = (attempt: number, baseMs: number, mostMs: number, random: () => number): number =>
  random() * Math.min(mostMs, baseMs * 2 ** attempt)

export const sleep = (clock: Clock, ms: number): Promise<void> =>
  new Promise((resolve) => {
    clock.after(ms, resolve)
  })
