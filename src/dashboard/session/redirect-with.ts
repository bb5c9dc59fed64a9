import type { FastifyReply } from 'fastify'
import type { FlashMessage } from './session.ts'

/**
 * Ends a form: leads to a page that shows a message above its content, once.
 * @param message a sentence that says what was done, unless it has a kind
 */
export function redirectWith(
  reply: FastifyReply,
  path: string,
  message: string | FlashMessage,
): FastifyReply {
  reply.request.session.notice = typeof message === 'string' ? { kind: 'done', text: message } : message
  return reply.redirect(path, 303)
}
