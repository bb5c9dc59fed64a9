import type { FastifyReply, FastifyRequest } from 'fastify'
import { userCodeLetters } from '../access/device-codes.ts'
import { tokenIn } from '../signing/armor.ts'
import type { Cookies } from './cookies.ts'
import type { Visit } from './visit.ts'

/** The form of a token. A QR code has at most 2,953 characters, and a browser keeps cookies of 4,096 bytes. */
const tokenForm = /^v4\.public\.[A-Za-z0-9_.-]{1,2900}$/

type Kind = 'file' | 'code'

/**
 * What a visitor came with before they signed in: a request or release that they scanned, or the code of an app. It is kept in their
 * browser: only the text, never an address to go to, so that a sign-in leads to pages of this portal alone.
 */
export type Scanned = {
  /** A text of another form is not kept. */
  keep(reply: FastifyReply, visit: Visit, text: string): void
  /** What is kept. */
  find(request: FastifyRequest): Kind | undefined
  /** The path after a sign-in: that of the kept text, which is then no longer kept, or the list of licenses. */
  pathAfterSignIn(request: FastifyRequest, reply: FastifyReply, visit: Visit): string
}

export function scannedIn(cookies: Cookies): Scanned {
  const kept = (request: FastifyRequest) => cookies.get(request, 'scanned') ?? ''
  return {
    find: (request) => kindOf(kept(request)),
    keep(reply, { tenantId }, text) {
      const shown = userCodeLetters(text) ?? tokenIn('REQUEST', text) ?? tokenIn('RELEASE', text) ?? ''
      if (kindOf(shown) !== undefined) cookies.set(reply, tenantId, 'scanned', shown)
    },
    pathAfterSignIn(request, reply, { tenantId, home }) {
      const text = kept(request)
      const kind = kindOf(text)
      if (kind === undefined) return home
      cookies.clear(reply, tenantId, 'scanned')
      return kind === 'code'
        ? `${home}/activate-app?${new URLSearchParams({ code: text })}`
        : `${home}/file?${new URLSearchParams({ request: text })}`
    },
  }
}

function kindOf(text: string): Kind | undefined {
  if (tokenForm.test(text)) return 'file'
  return userCodeLetters(text) === undefined ? undefined : 'code'
}
