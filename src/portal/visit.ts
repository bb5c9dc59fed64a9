import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { findAddressOfPerson } from '../../projections/licenses/of-person.ts'
import { findOpenPortal, findTextsOf, type OpenPortal } from '../../projections/portal.ts'
import { customerOf } from '../access/customer-sessions.ts'
import { findViewing, type Viewing } from '../access/portal-viewings.ts'
import type { Origin } from '../commands/origin.ts'
import { isSecret } from '../credentials/secret.ts'
import {
  acceptedLanguage,
  languageAmong,
  languageNames,
  type PortalLanguage,
} from '../domain/portal/languages.ts'
import { type Say, sayIn } from '../domain/portal/texts.ts'
import { isSlug } from '../domain/values.ts'
import { notFound, Problem } from '../http/problem.ts'
import type { Ports } from '../ports.ts'
import type { Cookies, FormOwner, FormTokens } from './cookies.ts'

/** A person. `email` is null when no license has their address any more. */
export type Customer = { subjectId: string; email: string | null }

/** A request for a page of an open portal. */
export type Visit = {
  portal: OpenPortal
  tenantId: string
  /** The path of the portal. */
  home: string
  language: PortalLanguage
  say: Say
  /** Whose portal it is: of the person who signed in, or of the one as whom a member sees it. */
  customer: Customer | undefined
  /** The session of the person; undefined for a visitor and in a viewing. */
  session: string | undefined
  /** The viewing of a member; `over` until the browser has forgotten one that has ended. */
  viewing: Viewing | 'over' | undefined
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
    const language = chosenLanguage(request, reply, portal, cookies)
    const who = await whoIs(ports, request, tenantId, cookies)
    const owner = ownerOf(request, { tenantId, ...who }, cookies)
    request.portalVisit = {
      portal,
      tenantId,
      home: `/portal/${tenantId}`,
      language,
      say: sayIn(language, portal.settings.texts, await findTextsOf(ports.db, portal, language)),
      ...who,
      token: owner ? tokens.make(owner) : '',
    }
  })
  app.addHook('preHandler', async (request) => {
    // A form for a path that does not exist was not read.
    if (request.method !== 'POST' || request.is404) return
    const owner = ownerOf(request, visitOf(request), cookies)
    const { _csrf } = (request.body ?? {}) as { _csrf?: unknown }
    if (!owner || !tokens.isValid(owner, _csrf)) throw new Problem(403, 'forbidden', 'The form has expired.')
  })
}

/** The language of a page: what the person chose, now or before, else the one of the portal's that their browser prefers. */
function chosenLanguage(
  request: FastifyRequest,
  reply: FastifyReply,
  { tenantId, addedLanguages }: OpenPortal,
  cookies: Cookies,
): PortalLanguage {
  const { language } = request.query as { language?: unknown }
  const known = languageNames(addedLanguages)
  const chosen = typeof language === 'string' && Object.hasOwn(known, language) ? language : undefined
  if (chosen !== undefined) cookies.set(reply, tenantId, 'language', chosen)
  const accepted = acceptedLanguage(request.headers['accept-language'] ?? '', addedLanguages)
  return languageAmong(addedLanguages, [chosen, cookies.get(request, 'language'), accepted])
}

/** In a browser with a viewing, a session of its own counts again only once the viewing has ended and is forgotten. */
async function whoIs(
  ports: VisitOptions['ports'],
  request: FastifyRequest,
  tenantId: string,
  cookies: Cookies,
): Promise<Pick<Visit, 'customer' | 'session' | 'viewing'>> {
  const { db, now } = ports
  const cookie = cookies.get(request, 'viewing')
  if (cookie !== undefined) {
    const viewing = await findViewing(db, tenantId, cookie, now())
    const customer = viewing && (await customerWith(ports, tenantId, viewing.subjectId))
    return { customer, session: undefined, viewing: viewing ?? 'over' }
  }
  const session = cookies.get(request, 'session')
  const subjectId =
    session !== undefined && isSecret(session) ? await customerOf(db, tenantId, session, now()) : undefined
  if (subjectId === undefined) return { customer: undefined, session: undefined, viewing: undefined }
  return { customer: await customerWith(ports, tenantId, subjectId), session, viewing: undefined }
}

async function customerWith(
  { db, subjects }: VisitOptions['ports'],
  tenantId: string,
  subjectId: string,
): Promise<Customer> {
  const sealed = await findAddressOfPerson(db, tenantId, subjectId)
  const [person] = sealed ? await subjects.openPeople(tenantId, [sealed]) : []
  return { subjectId, email: person?.email ?? null }
}

function ownerOf(
  request: FastifyRequest,
  { tenantId, session }: Pick<Visit, 'tenantId' | 'session'>,
  cookies: Cookies,
): FormOwner | undefined {
  const secrets = {
    viewing: cookies.get(request, 'viewing'),
    session,
    browser: cookies.get(request, 'browser'),
  }
  for (const kind of ['viewing', 'session', 'browser'] as const) {
    const secret = secrets[kind]
    if (secret !== undefined) return { tenantId, kind, secret }
  }
  return undefined
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
