import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { findAddressOfPerson } from '../../projections/licenses/of-person.ts'
import { findOpenPortal, type OpenPortal } from '../../projections/portal.ts'
import { customerOf } from '../access/customer-sessions.ts'
import type { Origin } from '../commands/origin.ts'
import {
  acceptedLanguage,
  type PortalLanguage,
  portalLanguages,
  type Say,
  sayIn,
} from '../domain/portal/texts.ts'
import { isSlug } from '../domain/values.ts'
import { notFound, Problem } from '../http/problem.ts'
import type { Ports } from '../ports.ts'
import type { Cookies, FormTokens } from './cookies.ts'

/** A signed-in person. `email` is null when no license has their address any more. */
export type Customer = { subjectId: string; email: string | null; session: string }

/** A request for a page of an open portal. */
export type Visit = {
  portal: OpenPortal
  tenantId: string
  /** The path of the portal. */
  home: string
  language: PortalLanguage
  say: Say
  customer: Customer | undefined
  /** The token for the page's forms; empty for a browser without a cookie. */
  token: string
}

declare module 'fastify' {
  interface FastifyRequest {
    portalVisit: Visit | undefined
  }
}

type VisitOptions = {
  ports: Ports<'db' | 'now' | 'subjects'>
  cookies: Cookies
  tokens: FormTokens
}

/**
 * Finds the portal and the person of each request, and checks the token of each form. An unknown tenant, one whose
 * portal is off and a malformed id get the same answer.
 */
export function receiveVisits(app: FastifyInstance, { ports, cookies, tokens }: VisitOptions): void {
  app.decorateRequest('portalVisit', undefined)
  app.addHook('onRequest', async (request, reply) => {
    const { tenantId } = request.params as { tenantId?: string }
    if (tenantId === undefined) return
    const portal = isSlug(tenantId) ? await findOpenPortal(ports.db, tenantId) : undefined
    if (!portal) throw notFound('page')
    const language = chosenLanguage(request, reply, tenantId, cookies)
    const customer = await customerIn(ports, request, tenantId, cookies)
    const owner = ownerOf(request, tenantId, customer, cookies)
    request.portalVisit = {
      portal,
      tenantId,
      home: `/portal/${tenantId}`,
      language,
      say: sayIn(language, portal.settings.texts),
      customer,
      token: owner ? tokens.make(owner) : '',
    }
  })
  app.addHook('preHandler', async (request) => {
    // A form for a path that does not exist was not read.
    if (request.method !== 'POST' || request.is404) return
    const { tenantId, customer } = visitOf(request)
    const owner = ownerOf(request, tenantId, customer, cookies)
    const { _csrf } = (request.body ?? {}) as { _csrf?: unknown }
    if (!owner || !tokens.isValid(owner, _csrf)) throw new Problem(403, 'forbidden', 'The form has expired.')
  })
}

function chosenLanguage(
  request: FastifyRequest,
  reply: FastifyReply,
  tenantId: string,
  cookies: Cookies,
): PortalLanguage {
  const { language } = request.query as { language?: unknown }
  const chosen = typeof language === 'string' ? language : undefined
  const found = languageFor([chosen, cookies.get(request, 'language')], request.headers['accept-language'])
  if (chosen === found) cookies.set(reply, tenantId, 'language', found)
  return found
}

async function customerIn(
  ports: VisitOptions['ports'],
  request: FastifyRequest,
  tenantId: string,
  cookies: Cookies,
): Promise<Customer | undefined> {
  const session = cookies.get(request, 'session')
  if (session === undefined || session.length !== 43) return undefined
  const subjectId = await customerOf(ports.db, tenantId, session, ports.now())
  if (subjectId === undefined) return undefined
  const sealed = await findAddressOfPerson(ports.db, tenantId, subjectId)
  const [person] = sealed ? await ports.subjects.openPeople(tenantId, [sealed]) : []
  return { subjectId, email: person?.email ?? null, session }
}

function ownerOf(
  request: FastifyRequest,
  tenantId: string,
  customer: Customer | undefined,
  cookies: Cookies,
): { tenantId: string; kind: 'session' | 'browser'; secret: string } | undefined {
  if (customer) return { tenantId, kind: 'session', secret: customer.session }
  const browser = cookies.get(request, 'browser')
  return browser === undefined ? undefined : { tenantId, kind: 'browser', secret: browser }
}

/** @throws Problem 404 outside a portal */
export function visitOf(request: FastifyRequest): Visit {
  if (!request.portalVisit) throw notFound('page')
  return request.portalVisit
}

/** The origin in the metadata of every event that the person causes. */
export function originOfCustomer(request: FastifyRequest, { subjectId }: Customer): Origin {
  return { requestId: request.id, actor: `customer:${subjectId}` }
}

const isLanguage = (text: string | undefined): text is PortalLanguage =>
  portalLanguages.some((language) => language === text)

/**
 * The language of a page: what the person chose, else the one of the portal's that their browser prefers.
 * @param asked in the address, or in the cookie of an earlier choice
 * @param accepted the Accept-Language header
 */
function languageFor(wanted: readonly (string | undefined)[], accepted: string | undefined): PortalLanguage {
  return wanted.find(isLanguage) ?? acceptedLanguage(accepted ?? '') ?? portalLanguages[0]
}
