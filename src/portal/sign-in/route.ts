import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { listProvidersOfCustomers } from '../../../projections/sign-in-providers.ts'
import { customerLinkState, signInWithLink } from '../../access/customer-links.ts'
import { endCustomerSession } from '../../access/customer-sessions.ts'
import { newSecret } from '../../credentials/secret.ts'
import { isInDomains } from '../../domain/sign-in-providers/claims.ts'
import { asciiEmail, EmailAddress } from '../../domain/values.ts'
import { addressOf } from '../../http/listening.ts'
import { type PortalContext, page } from '../context.ts'
import { showPage } from '../page.ts'
import { scannedIn } from '../scanned.ts'
import { type Visit, visitOf } from '../visit.ts'
import { providerRoutes } from './provider-route.ts'
import { requestLink } from './request-link.ts'
import { tooMany } from './too-many.ts'
import { chooseView, linkSentView, linkView, signInView, uselessLinkView } from './view.ts'

const SignInForm = z.object({
  email: z.string().catch(''),
  by: z.literal('link').optional().catch(undefined),
})
const LinkToken = z.object({ token: z.string().max(100) })

/** Signing in by a link that is mailed, or at a provider, and signing out. */
export function signInRoutes(app: FastifyInstance, context: PortalContext): void {
  requestRoutes(app, context)
  providerRoutes(app, context)
  linkRoutes(app, context)

  app.post('/:tenantId/sign-out', page, async (request, reply) => {
    const { ports, cookies } = context
    const { tenantId, home, session } = visitOf(request)
    if (session !== undefined) await endCustomerSession(ports.db, session, ports.now())
    cookies.clear(reply, tenantId, 'session')
    return reply.redirect(`${home}/sign-in`, 303)
  })
}

function requestRoutes(app: FastifyInstance, context: PortalContext): void {
  const { ports, cookies } = context
  const scanned = scannedIn(cookies)

  const form = async (reply: FastifyReply, visit: Visit, typed: { email: string; wrong: boolean }) => {
    const kept = scanned.find(reply.request)
    // Those of organizations would say which customers the vendor has.
    const providers = (await listProvidersOfCustomers(ports.db, visit.tenantId)).filter(
      ({ audience }) => audience.customerId === null,
    )
    return showPage(
      reply,
      visit,
      { title: visit.say('signInTitle'), content: signInView(visit, { ...typed, kept }, providers) },
      typed.wrong ? 422 : 200,
    )
  }

  app.get('/:tenantId/sign-in', page, async (request, reply) => {
    const visit = visitOf(request)
    if (visit.customer) return reply.redirect(visit.home, 303)
    if (cookies.get(request, 'browser') === undefined) {
      // The form needs the browser's cookie, so it is shown once the browser has it.
      const browser = newSecret(ports.randomBytes)
      cookies.set(reply, visit.tenantId, 'browser', browser)
      return form(reply, { ...visit, token: context.tokenOf(visit.tenantId, browser) }, empty)
    }
    return form(reply, visit, empty)
  })

  app.post('/:tenantId/sign-in', page, async (request, reply) => {
    const visit = visitOf(request)
    const { email: typed, by } = SignInForm.parse(request.body)
    const email = EmailAddress.safeParse(typed.trim())
    if (!email.success) return form(reply, visit, { email: typed.slice(0, 254), wrong: true })
    if (by !== 'link') {
      // By the domain alone, so that the answer does not tell who is known.
      const address = asciiEmail(email.data) ?? email.data
      const providers = (await listProvidersOfCustomers(ports.db, visit.tenantId)).filter(({ domains }) =>
        isInDomains(domains, address),
      )
      if (providers.length > 0) {
        const content = chooseView(visit, email.data, providers)
        return showPage(reply, visit, { title: visit.say('signInTitle'), content })
      }
    }
    const browser = cookies.get(request, 'browser') ?? ''
    const input = { email: email.data, browser, address: addressOf(request) }
    const { waitSeconds } = await requestLink(context, visit, input, request.log)
    if (waitSeconds !== null) return tooMany(reply, visit, waitSeconds)
    return showPage(reply, visit, {
      title: visit.say('linkSentTitle'),
      content: linkSentView(visit),
    })
  })
}

const empty = { email: '', wrong: false }

function linkRoutes(app: FastifyInstance, { ports, cookies }: PortalContext): void {
  const scanned = scannedIn(cookies)
  const useless = (reply: FastifyReply, visit: Visit, why: 'other browser' | 'expired') =>
    showPage(
      reply,
      visit,
      {
        title: visit.say(why === 'expired' ? 'linkExpiredTitle' : 'linkOtherBrowserTitle'),
        content: uselessLinkView(visit, why),
      },
      why === 'expired' ? 410 : 409,
    )
  const stateOf = (request: FastifyRequest, tenantId: string, secret: string) =>
    customerLinkState(ports.db, { secret, tenantId, browser: cookies.get(request, 'browser') }, ports.now())

  app.get('/:tenantId/link', page, async (request, reply) => {
    const visit = visitOf(request)
    const secret = LinkToken.safeParse(request.query).data?.token ?? ''
    const state = await stateOf(request, visit.tenantId, secret)
    if (state !== 'usable') return useless(reply, visit, state)
    return showPage(reply, visit, { title: visit.say('linkTitle'), content: linkView(visit, secret) })
  })

  app.post('/:tenantId/link', page, async (request, reply) => {
    const visit = visitOf(request)
    const { tenantId } = visit
    const secret = LinkToken.safeParse(request.body).data?.token ?? ''
    const state = await stateOf(request, tenantId, secret)
    if (state !== 'usable') return useless(reply, visit, state)
    const session = newSecret(ports.randomBytes)
    const browser = cookies.get(request, 'browser') ?? ''
    const link = { secret, tenantId, browser, session }
    if (!(await signInWithLink(ports.db, link, ports.now()))) return useless(reply, visit, 'expired')
    if (visit.session !== undefined) await endCustomerSession(ports.db, visit.session, ports.now())
    cookies.set(reply, tenantId, 'session', session)
    return reply.redirect(scanned.pathAfterSignIn(request, reply, visit), 303)
  })
}
