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

/** The default page after signing in. */
export const home = '/dashboard'

/** The requested page if it belongs to the dashboard, in any notation of a URL; never a page of another site. */
export function returnPath(target: unknown): string {
  if (
    typeof target !== 'string' ||
    target.length > 500 ||
    !/^\/dashboard(?:[/?][\x21-\x5b\x5d-\x7e]*)?$/.test(target)
  )
    return home
  const origin = 'http://here.invalid'
  const url = URL.parse(target, origin)
  if (!url || url.origin !== origin) return home
  const inside =
    (url.pathname === home || url.pathname.startsWith(`${home}/`)) && !url.pathname.includes('//')
  // After signing in, never back to a sign-in page or to a route that only accepts forms.
  return inside && !/^\/dashboard\/(?:sign-in|sign-out|confirm)/.test(url.pathname)
    ? url.pathname + url.search
    : home
}

/** The URL of a page that redirects to another one afterwards. */
export const leadingTo = (page: string, path: string): string =>
  path === home ? page : `${page}?return=${encodeURIComponent(path)}`
