import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { userCodeLetters } from '../../access/device-codes.ts'
import { findByDeviceCodeHash, findByUserCode, type LoginRequest } from '../../access/login-requests.ts'
import { maxWrongCodes, returnCodeAttempt, takeCodeAttempt } from '../../access/sessions.ts'
import { approveLogin, denyLogin } from '../../commands/logins.ts'
import { quoted } from '../../domain/plain-text.ts'
import { Refusal } from '../../domain/refusal.ts'
import { Scope } from '../../domain/tokens/events.ts'
import { problemOfRefusal } from '../../http/problem.ts'
import { boxes, formOf } from '../forms/forms.ts'
import { pageRoute } from '../frame/page-route.ts'
import { one } from '../lists/lists.ts'
import type { PageContext } from '../page-context.ts'
import { deciderOf, originOfMember, principalOf } from '../session/principal.ts'
import { messageView } from '../sign-in/view.ts'
import { expiryOf, isDangerous, Lifetime } from '../tokens/fields.ts'
import { codeView, reviewView } from './view.ts'

const CodeForm = z.object({ code: z.string().max(40) })
const ApproveForm = z.object({ scopes: boxes.pipe(z.array(Scope)), lifetime: Lifetime })

const Query = z.object({ code: one })
/** Devices show the address of the page. */
const linked = pageRoute({ page: 'member', query: Query, foreignQuery: 'in links' })
const member = pageRoute({ page: 'member' })
/** Only dangerous scopes need a proof. */
const approving = pageRoute({
  page: 'member',
  proof: 'send',
  proofIf: ({ scopes }) => [scopes].flat().some(isDangerous),
})

const path = '/dashboard/device'

/** How often a member may enter wrong codes, counted over all their sessions. */
const perMember = { burst: 20, intervalMs: 180_000 }

/** Authorizes a device: a member enters its code, then reviews the requested scopes. */
export function devicePages(app: FastifyInstance, context: PageContext): void {
  const { ports, show } = context

  const codePage = (reply: FastifyReply, code: string, problem?: string, status?: number) =>
    show(
      reply,
      { title: 'Authorize a device', content: ({ token }) => codeView({ token, code, problem }), problem },
      status,
    )

  app.get('/device', linked, async (request, reply) =>
    codePage(reply, Query.parse(request.query).code?.slice(0, 40) ?? ''),
  )

  app.post('/device', member, async (request, reply) => {
    const { code } = formOf(CodeForm, request)
    const { sessionHash, memberId } = principalOf(request)
    const bucket = `codes of ${memberId}`
    const allowed = await ports.attempts.take([{ bucket, allowance: perMember }])
    if (!allowed.allowed || !(await takeCodeAttempt(ports.db, sessionHash))) {
      return codePage(reply, '', 'Too many wrong codes. Sign out and try again in a few minutes.', 429)
    }
    const letters = userCodeLetters(code)
    const { db, fingerprint } = ports
    const found = letters && (await findByUserCode(db, fingerprint, letters, ports.now()))
    if (!found) {
      return codePage(
        reply,
        code,
        `No device is waiting with this code. Codes expire after ten minutes. After ${maxWrongCodes} wrong codes, a session accepts no more.`,
      )
    }
    await returnCodeAttempt(db, sessionHash)
    await ports.attempts.giveBack(bucket, perMember)
    request.session.login = found.deviceCodeHash
    return reply.redirect(`${path}/review`, 303)
  })

  reviewPages(app, context)
}

const nothingWaits = {
  title: 'No pending authorization',
  content: () =>
    messageView(
      'No pending authorization',
      'The code has expired, or you have not entered one. Start again on the device.',
    ),
}

function reviewPages(app: FastifyInstance, { ports, show }: PageContext): void {
  /** The pending device authorization whose code was entered in this session. */
  const waiting = async ({ session: { login } }: FastifyRequest): Promise<LoginRequest | undefined> =>
    login === undefined ? undefined : findByDeviceCodeHash(ports.db, login, ports.now())

  const review = (request: FastifyRequest, reply: FastifyReply, login: LoginRequest, problem?: string) => {
    const principal = principalOf(request)
    return show(reply, {
      title: 'Authorize a device',
      content: (view) => reviewView(view, { login, principal, problem }),
      problem,
    })
  }

  const notFound = (reply: FastifyReply) => show(reply, nothingWaits, 404)

  const settle = async (
    request: FastifyRequest,
    reply: FastifyReply,
    login: LoginRequest,
    work: () => Promise<void>,
    text: string,
  ) => {
    try {
      await work()
    } catch (error) {
      if (!(error instanceof Refusal)) throw error
      return review(request, reply, login, `${problemOfRefusal(error.code).message}.`)
    }
    request.session.login = undefined
    return show(reply, { title: 'Authorize a device', content: () => messageView('Done', text) })
  }

  app.get('/device/review', member, async (request, reply) => {
    const login = await waiting(request)
    return login ? review(request, reply, login) : notFound(reply)
  })

  app.post('/device/approve', approving, async (request, reply) => {
    const login = await waiting(request)
    if (!login) return notFound(reply)
    const { scopes, lifetime } = formOf(ApproveForm, request)
    const principal = principalOf(request)
    if (scopes.length === 0)
      return review(request, reply, login, 'Choose at least one scope, or deny the request.')
    const granted = { scopes, tokenExpiresAt: expiryOf(lifetime, ports.now()) }
    const work = () => approveLogin(ports, login, deciderOf(principal), granted, originOfMember(request))
    return settle(
      request,
      reply,
      login,
      work,
      `The device that calls itself ${quoted(login.clientName)} is authorized. Return to it: it continues within seconds.`,
    )
  })

  app.post('/device/deny', member, async (request, reply) => {
    const login = await waiting(request)
    if (!login) return notFound(reply)
    const work = () => denyLogin(ports, login, deciderOf(principalOf(request)), originOfMember(request))
    return settle(
      request,
      reply,
      login,
      work,
      `The device that calls itself ${quoted(login.clientName)} was denied and received no token.`,
    )
  })
}
