import type { FastifyReply } from 'fastify'
import { message, showPage } from '../page.ts'
import type { Visit } from '../visit.ts'

/** The page after too many attempts. */
export function tooMany(reply: FastifyReply, visit: Visit, waitSeconds: number): FastifyReply {
  const { say } = visit
  const title = say('tooManyTitle')
  const content = message(title, say('tooMany', { minutes: Math.ceil(waitSeconds / 60) }))
  return showPage(reply.header('retry-after', String(waitSeconds)), visit, { title, content }, 429)
}
