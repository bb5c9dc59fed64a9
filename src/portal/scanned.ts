import type { FastifyReply, FastifyRequest } from 'fastify'
import { tokenIn } from '../signing/armor.ts'
import type { Cookies } from './cookies.ts'
import type { Visit } from './visit.ts'

/** The form of a token. A QR code has at most 2,953 characters, and a browser keeps cookies of 4,096 bytes. */
const scannedForm = /^v4\.public\.[A-Za-z0-9_.-]{1,2900}$/

/**
 * What a visitor scanned before they signed in, kept in their browser. Only the text is kept, never an address to go to, so
 * that a sign-in leads to pages of this portal alone.
 */
export type Scanned = {
  /** Keeps a request or release. A text of another form is not kept. */
  keep(reply: FastifyReply, visit: Visit, text: string): void
  find(request: FastifyRequest): string | undefined
  /** The path after a sign-in: that of the kept text, which is then no longer kept, or the list of licenses. */
  pathAfterSignIn(request: FastifyRequest, reply: FastifyReply, visit: Visit): string
}

export function scannedIn(cookies: Cookies): Scanned {
  const find: Scanned['find'] = (request) => {
    const kept = cookies.get(request, 'scanned') ?? ''
    return scannedForm.test(kept) ? kept : undefined
  }
  return {
    find,
    keep(reply, { tenantId }, text) {
      const token = tokenIn('REQUEST', text) ?? tokenIn('RELEASE', text) ?? ''
      if (scannedForm.test(token)) cookies.set(reply, tenantId, 'scanned', token)
    },
    pathAfterSignIn(request, reply, { tenantId, home }) {
      const kept = find(request)
      if (kept === undefined) return home
      cookies.clear(reply, tenantId, 'scanned')
      return filePath(home, kept)
    },
  }
}

/** The page that finds the license of a request or release. */
const filePath = (home: string, text: string): string =>
  `${home}/file?${new URLSearchParams({ request: text })}`
