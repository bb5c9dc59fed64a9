import { createHmac, type KeyObject, timingSafeEqual } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { providerSignInMs } from '../access/provider-sign-ins.ts'

/**
 * The cookies of one portal: `session` of a signed-in person, `browser` of the browser that a link is bound to, the
 * language that a person chose, what a visitor scanned before they signed in, `provider` of the browser that has begun a sign-in at a
 * provider, and `viewing` of a member who sees the portal as a customer does.
 */
type CookieName = 'session' | 'browser' | 'language' | 'scanned' | 'provider' | 'viewing'

/** How long the browser keeps each (seconds); those of a session and a viewing end with the browser. */
const keptFor: Record<CookieName, number | undefined> = {
  session: undefined,
  browser: 86_400,
  language: 31_536_000,
  scanned: 3600,
  provider: providerSignInMs / 1000,
  viewing: undefined,
}

/** Reads and writes the cookies of a tenant's portal, which browsers send to that portal alone. */
export type Cookies = {
  get(request: FastifyRequest, name: CookieName): string | undefined
  set(reply: FastifyReply, tenantId: string, name: CookieName, value: string): void
  clear(reply: FastifyReply, tenantId: string, name: CookieName): void
}

export function cookiesOf(isHttps: boolean): Cookies {
  const nameOf = (name: CookieName) => `${isHttps ? '__Secure-' : ''}keyledger-portal-${name}`
  const optionsFor = (tenantId: string) =>
    ({ httpOnly: true, sameSite: 'lax', secure: isHttps, path: `/portal/${tenantId}` }) as const
  return {
    get: (request, name) => request.cookies[nameOf(name)],
    set(reply, tenantId, name, value) {
      const maxAge = keptFor[name]
      reply.setCookie(nameOf(name), value, {
        ...optionsFor(tenantId),
        ...(maxAge !== undefined && { maxAge }),
      })
    },
    clear(reply, tenantId, name) {
      reply.clearCookie(nameOf(name), optionsFor(tenantId))
    },
  }
}

/** Whom a form was shown to: a signed-in person, the browser of a visitor, or a member in a viewing. */
export type FormOwner = { tenantId: string; kind: 'session' | 'browser' | 'viewing'; secret: string }

/** Makes and checks the token in each form, which another site cannot know. */
export type FormTokens = {
  make(owner: FormOwner): string
  isValid(owner: FormOwner, token: unknown): boolean
}

export function formTokens(key: KeyObject): FormTokens {
  const make = ({ tenantId, kind, secret }: FormOwner): string =>
    createHmac('sha256', key)
      .update(JSON.stringify(['portal form', tenantId, kind, secret]))
      .digest('base64url')
  return {
    make,
    isValid(owner, token) {
      const wanted = Buffer.from(make(owner))
      const given = Buffer.from(typeof token === 'string' ? token : '')
      return wanted.length === given.length && timingSafeEqual(wanted, given)
    },
  }
}
