import { createHmac, type KeyObject } from 'node:crypto'
import fastifyCookie from '@fastify/cookie'
import csrfProtection from '@fastify/csrf-protection'
import fastifySession from '@fastify/session'
import type { FastifyInstance, FastifyReply, FastifyRequest, Session } from 'fastify'
import type { Pool } from 'pg'
import { z } from 'zod'
import { SessionMember } from '../../access/member-sessions.ts'
import { endSession, findSession, saveSession } from '../../access/sessions.ts'
import { sha256 } from '../../credentials/sha256.ts'
import type { Ports } from '../../ports.ts'

const FlashMessage = z.object({ kind: z.enum(['done', 'wrong']), text: z.string() })
export type FlashMessage = z.infer<typeof FlashMessage>

/** The stored data of a session. It contains no credential. */
const StoredSession = z.object({
  member: SessionMember.optional(),
  challengedAt: z.string().optional(),
  notice: FlashMessage.optional(),
  enrolment: z.string().optional(),
  login: z.string().optional(),
})
type StoredSession = z.infer<typeof StoredSession>

declare module 'fastify' {
  interface Session {
    member?: SessionMember | undefined
    /** When a passkey challenge was last issued, which starts a session for a person who is not signed in. */
    challengedAt?: string | undefined
    /** Shown once, on the next page. */
    notice?: FlashMessage | undefined
    /** Identifies one attempt to connect an authenticator app. */
    enrolment?: string | undefined
    /** The hash of the device code that belongs to the entered user code. */
    login?: string | undefined
  }
}

export const sessionHashOf = (request: FastifyRequest): string => sha256(request.session.sessionId)

/** The name of a cookie. With TLS it begins with `__Host-`, which binds it to this host. */
export const cookieNameOf = (what: string, isHttps: boolean): string =>
  `${isHttps ? '__Host-' : ''}keyledger-${what}`

/** A cookie that scripts and other sites cannot use. */
export const cookieOptions = (isHttps: boolean) =>
  ({ httpOnly: true, sameSite: 'lax', secure: isHttps, path: '/' }) as const

type SessionOptions = { ports: Ports<'db' | 'now'>; cookieKey: KeyObject; isHttps: boolean }

/** Ends the session of a request, and deletes its cookie. */
export type EndSession = (request: FastifyRequest, reply: FastifyReply) => Promise<void>

/** Stores sessions in Postgres, and puts a token into every form that another site cannot know. */
export async function registerSessions(app: FastifyInstance, options: SessionOptions): Promise<EndSession> {
  const { ports, cookieKey, isHttps } = options
  const secretFor = (purpose: string) => createHmac('sha256', cookieKey).update(purpose).digest('base64')
  const cookieName = cookieNameOf('session', isHttps)
  const cookie = cookieOptions(isHttps)
  await app.register(fastifyCookie, { secret: secretFor('form cookie') })
  // Before the plugin's own hook, which saves nothing when TLS ends at a proxy.
  app.addHook('onSend', async (request, _reply, payload) => {
    const session: FastifyRequest['session'] | null = request.session
    if (session?.isModified?.()) await session.save()
    return payload
  })
  await app.register(fastifySession, {
    secret: secretFor('session cookie'),
    cookieName,
    cookie: { ...cookie },
    store: storeIn(ports.db, ports.now),
    saveUninitialized: false,
    rolling: false,
  })
  const forms = {
    cookieKey: cookieNameOf('form', isHttps),
    cookieOpts: { ...cookie, signed: true },
    csrfOpts: { hmacKey: secretFor('form token'), userInfo: true },
    getUserInfo: formOwner,
    // Logged at debug level: anyone can send bad forms, and their lines would bury the others.
    logLevel: 'debug',
  } as const
  await app.register(csrfProtection, forms)
  app.addHook('preHandler', (request, reply, done) => {
    // A form for a path that does not exist was not read.
    if (request.method === 'GET' || request.method === 'HEAD' || request.is404) done()
    else app.csrfProtection(request, reply, done)
  })
  return async (request, reply) => {
    await request.session.destroy()
    reply.clearCookie(cookieName, cookie)
  }
}

/** A form belongs to the session that it was shown in, or to visitors without a member. */
const formOwner = ({ session }: FastifyRequest): string => (session?.member ? session.sessionId : 'nobody')

/** The token for a page's forms; empty on error pages from before the cookies were read. */
export function formToken(reply: FastifyReply): string {
  const cookies: unknown = reply.request.cookies
  return cookies ? reply.generateCsrf({ userInfo: formOwner(reply.request) }) : ''
}

/** Signs a member in with a new session id; the data of the earlier session is dropped. */
export async function beginSession(request: FastifyRequest, member: SessionMember): Promise<void> {
  await request.session.regenerate()
  request.session.member = member
  await request.session.save()
}

/** The store for the session plugin, with callbacks. Only a hash of the id in the cookie is stored. */
function storeIn(db: Pool, now: () => Date) {
  type Callback = (error?: unknown) => void
  const settle = (work: Promise<unknown>, callback: Callback) =>
    void work.then(
      () => callback(),
      (error: unknown) => callback(error),
    )
  return {
    get(sessionId: string, callback: (error: unknown, session?: Session | null) => void) {
      findSession(db, sha256(sessionId), now()).then(
        (data) => {
          const { data: kept } = StoredSession.safeParse(data)
          callback(null, kept ? { ...withoutUndefined(kept), cookie: { originalMaxAge: null } } : null)
        },
        (error: unknown) => callback(error),
      )
    },
    set(sessionId: string, session: Session, callback: Callback) {
      const { member, challengedAt, notice, enrolment, login } = session
      const kept: StoredSession = { member, challengedAt, notice, enrolment, login }
      const owner = { memberId: member?.memberId ?? null, tenantId: member?.tenantId ?? null }
      settle(saveSession(db, sha256(sessionId), owner, kept, now()), callback)
    },
    destroy(sessionId: string, callback: Callback) {
      settle(endSession(db, sha256(sessionId), now()), callback)
    },
  }
}

const withoutUndefined = (kept: StoredSession): StoredSession =>
  Object.fromEntries(Object.entries(kept).filter(([, value]) => value !== undefined))
