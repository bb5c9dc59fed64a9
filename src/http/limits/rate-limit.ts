import type { FastifyReply } from 'fastify'
import type { Limiter } from '../../limits/limiter.ts'
import { Problem } from '../problem.ts'

type Limited = Pick<Limiter, 'left' | 'rate'>

/** Tells the caller what is left of a limit, unless the response already tells of a limit with less left. */
export function showRateLimit(reply: FastifyReply, limiter: Limited, key: string): void {
  const { units, fullInMs } = limiter.left(key)
  const shown = reply.getHeader('ratelimit-remaining')
  if (shown !== undefined && Number(shown) <= units) return
  reply.headers(headersOf(limiter, units, fullInMs))
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
