import type { FastifyReply } from 'fastify'
import type { Limiter } from '../../limits/limiter.ts'
import { Problem } from '../problem.ts'

export type Limited = Pick<Limiter, 'left' | 'rate'>

/** Tells the caller what is left of a limit, unless the response already tells of a limit with less left. */
function showRateLimit(reply: FastifyReply, limiter: Limited, key: string): void {
  const { units, fullInMs } = limiter.left(key)
  const shown = reply.getHeader('ratelimit-remaining')
  if (shown !== undefined && Number(shown) <= units) return
  reply.headers(headersOf(limiter, units, fullInMs))
}

type Spending = {
  /** Counts the refusal. */
  onHit?: () => void
  /** Where to tell what is left; absent for limits that other callers share. */
  reply?: FastifyReply | undefined
  refusal?: (limiter: Limited, key: string, waitMs: number) => Problem
}

/**
 * Takes one unit of a limit, if there is one. Usually that is decided at once, and a promise is avoided on paths that many
 * calls take.
 * @throws Problem 429 when none is left, also through the promise
 */
export function spend(
  limiter: Limiter | undefined,
  key: string,
  { onHit, reply, refusal = rateLimited }: Spending = {},
): void | Promise<void> {
  if (!limiter) return
  const decide = (waitMs: number): void => {
    if (waitMs > 0) {
      onHit?.()
      throw refusal(limiter, key, waitMs)
    }
    if (reply) showRateLimit(reply, limiter, key)
  }
  const taken = limiter.take(key)
  return typeof taken === 'object' ? taken.then(decide) : decide(taken)
}

/**
 * The refusal of a call over a limit.
 * @param waitMs how long to wait before a retry
 */
export function rateLimited(limiter: Limited, key: string, waitMs: number): Problem {
  const seconds = Math.max(1, Math.ceil(waitMs / 1000))
  const message = `too many requests; try again in ${seconds} ${seconds === 1 ? 'second' : 'seconds'}`
  const fullInMs = Math.max(waitMs, limiter.left(key).fullInMs)
  return new Problem(429, 'rate_limited', message, {
    'retry-after': String(seconds),
    // A caller with a unit left would not be refused.
    ...headersOf(limiter, 0, fullInMs),
  })
}

const headersOf = ({ rate }: Limited, units: number, fullInMs: number) => ({
  'ratelimit-limit': String(Math.floor(rate.burst)),
  'ratelimit-remaining': String(units),
  'ratelimit-reset': String(Math.ceil(fullInMs / 1000)),
})
