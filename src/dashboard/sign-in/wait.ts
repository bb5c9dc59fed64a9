import type { FastifyReply } from 'fastify'

/** The message after too many attempts; also sets Retry-After. */
export function waitProblem(reply: FastifyReply, retryAfterSeconds: number): string {
  reply.header('retry-after', String(retryAfterSeconds))
  const minutes = Math.ceil(retryAfterSeconds / 60)
  return `Too many attempts. Wait ${minutes} ${minutes === 1 ? 'minute' : 'minutes'} and try again.`
}
