import type { FastifyContextConfig, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { memberOfSession } from '../../access/member-sessions.ts'
import { touchSession } from '../../access/sessions.ts'
import { recordAudit } from '../../commands/audit.ts'
import type { LoginDecider } from '../../commands/logins.ts'
import { emailOf } from '../../commands/members/members.ts'
import type { Origin } from '../../commands/origin.ts'
import type { AuditTarget } from '../../domain/audit/events.ts'
import {
  type HeldRole,
  lackingScopes,
  may,
  type Reading,
  type Right,
  roleName,
} from '../../domain/members/roles.ts'
import { quoted } from '../../domain/plain-text.ts'
import type { Plan } from '../../domain/tenants/events.ts'
import { addressOf } from '../../http/listening.ts'
import { Problem } from '../../http/problem.ts'
import type { Ports } from '../../ports.ts'
import { pageRoute } from '../frame/page-route.ts'
import { home, leadingTo } from './redirect-with.ts'
import { sessionHashOf } from './session.ts'

/** The signed-in member, read anew for each request: what their role allows is what it allows now. */
export type Principal = {
  memberId: string
  tenantId: string
  tenantName: string
  tenantStatus: 'active' | 'suspended' | 'closed'
  plan: Plan
  role: HeldRole
  /** Of a person of a reseller, who sees only what is theirs. */
  resellerId: string | undefined
  /** Null once the person's data was erased. */
  email: string | null
  sessionHash: string
  authenticatedAt: string
}

declare module 'fastify' {
  interface FastifyRequest {
    principal: Principal | undefined
  }
  interface FastifyContextConfig {
    /**
     * Who may open the page: everyone, every member of the vendor, those with a permission or a reading scope, the people of resellers,
     * or anyone who is signed in. A person of a reseller reaches nothing that does not name them.
     */
    page?: 'open' | 'member' | Right | 'reseller' | 'anyone'
    /** Requested by the page itself at intervals, which does not extend the session. */
    background?: true
    /**
     * The member must have proved who they are a short time ago. `send` asks when a form is sent, and keeps what was typed. `open`
     * asks before a page is opened: for forms that take or show a secret, which no other page holds.
     */
    proof?: 'send' | 'open'
    /** Whether a form with these fields needs the proof; without it, every one does. */
    proofIf?: (fields: Readonly<Record<string, unknown>>) => boolean
    /** The page shows personal data: each view is recorded in the audit log before the page is returned. */
    auditedView?: AuditTarget['kind']
  }
}

/** How long a sign-in or a proof counts for what needs one, and how long a page that was opened in that time may be filled in. */
const freshMs = 10 * 60_000

/** Authenticates each request of the dashboard, and enforces its route's `page` permission. */
export function guardRoutes(
  app: FastifyInstance,
  ports: Ports<'db' | 'execute' | 'newId' | 'now' | 'subjects'>,
): void {
  app.decorateRequest('principal', undefined)
  app.addHook('onRequest', async (request, reply) => {
    request.principal = await signedIn(ports, request)
    // An automatic update does not show that the member is still there.
    const { background } = request.routeOptions.config
    if (request.principal && !background && request.headers['hx-trigger'] === undefined)
      await touchSession(ports.db, request.principal.sessionHash, ports.now())
    const { page, proof } = request.routeOptions.config
    if (page === undefined || page === 'open') return
    const { principal } = request
    if (!principal) return redirectToPage(request, reply, '/dashboard/sign-in')
    if (principal.tenantStatus === 'closed') throw new Problem(403, 'forbidden', 'This workspace is closed.')
    if (principal.role === 'reseller' && isHome(request)) return reply.redirect(resellerHome, 303)
    if (!mayOpen(principal.role, page)) throw new Problem(403, 'forbidden', whyNot(principal.role, page))
    const within = request.method === 'GET' ? freshMs : 2 * freshMs
    if (proof === 'open' && !isFresh(ports, principal, within))
      return redirectToPage(request, reply, '/dashboard/confirm')
  })
  // After everything that refuses a request, because a refusal shows nothing.
  app.addHook('preHandler', (request) => recordView(ports, request))
}

/** Where the people of resellers begin. */
const resellerHome = `${home}/reseller`

const isHome = ({ method, routeOptions: { url } }: FastifyRequest): boolean =>
  method === 'GET' && url?.replace(/\/$/, '') === home

type Page = Exclude<FastifyContextConfig['page'], 'open' | undefined>

/** Whether a page is for members with this role: nothing is for the people of resellers unless it says so. */
function mayOpen(role: HeldRole, page: Page): boolean {
  if (page === 'anyone') return true
  if (role === 'reseller' || page === 'reseller') return role === page
  return page === 'member' || may(role, page)
}

/** Why a page is not for members with this role: the scopes that a custom role lacks. */
function whyNot(role: HeldRole, page: Page): string {
  const lacking =
    typeof role === 'string' || page === 'anyone' || page === 'member' || page === 'reseller'
      ? []
      : (lackingScopes(role, page) ?? [])
  if (lacking.length === 0) return 'Your role does not allow this. Ask an owner of the workspace.'
  const scopes = lacking.length === 1 ? `the scope ${lacking[0]}` : `the scopes ${lacking.join(', ')}`
  return `Your role ${quoted(roleName(role))} lacks ${scopes}. Ask an owner of the workspace.`
}

/** The options of a route whose views are recorded in the audit log, for members who may read what it shows. */
export const auditedPage = (page: Reading, auditedView: AuditTarget['kind'], query?: z.ZodObject) =>
  pageRoute({ page, auditedView, ...(query && { query }) })

const ViewRequest = z.object({
  params: z.object({ id: z.string().optional() }).catch({}),
  query: z.object({ asOf: z.string().optional() }).catch({}),
})

/**
 * Every response counts as a view, whatever the request's headers, so audited pages do not update themselves. A
 * malformed id is not recorded, because it may contain anything.
 */
async function recordView(ports: Ports<'execute' | 'newId' | 'now'>, request: FastifyRequest): Promise<void> {
  const { auditedView } = request.routeOptions.config
  if (auditedView === undefined) return
  const { params, query } = ViewRequest.parse(request)
  if (params.id !== undefined && !/^[a-z]{2,3}_[0-9a-z]{26}$/.test(params.id)) return
  const asOf = /^[\dTZ:.+-]{1,40}$/.exec(query.asOf ?? '')?.[0]
  const target = { kind: auditedView, id: params.id ?? null }
  await recordAudit(
    ports,
    principalOf(request).tenantId,
    { action: 'viewed', target, asOf },
    originOfMember(request),
  )
}

/**
 * Redirects to a page that leads back here afterwards. A form cannot be sent again automatically, so it leads back
 * to the page of the form.
 */
async function redirectToPage(
  request: FastifyRequest,
  reply: FastifyReply,
  page: string,
): Promise<FastifyReply> {
  const path = request.method === 'GET' ? request.url : pathOfReferer(request)
  const location = leadingTo(page, path)
  // A redirect would replace only a part of the page; this header makes htmx load the whole page.
  if (request.headers['hx-request'] !== undefined)
    return reply.code(204).header('hx-redirect', location).send()
  return reply.redirect(location, 303)
}

/** The page that a form was sent from. */
export function pathOfReferer({ headers }: FastifyRequest): string {
  const url = URL.parse(headers.referer ?? '')
  return url ? url.pathname + url.search : '/dashboard'
}

async function signedIn(
  ports: Ports<'db' | 'subjects'>,
  request: FastifyRequest,
): Promise<Principal | undefined> {
  const member = request.session?.member
  if (!member) return undefined
  const known = await memberOfSession(ports.db, member)
  if (!known) return undefined
  const { memberId, tenantId, resellerId } = known.member
  const { role, tenantName, tenantStatus, plan } = known
  return {
    memberId,
    tenantId,
    tenantName,
    tenantStatus,
    plan,
    role,
    resellerId,
    email: await emailOf(ports, known.member),
    sessionHash: sessionHashOf(request),
    authenticatedAt: member.authenticatedAt,
  }
}

/** Whether the member has proved who they are a short time ago. */
export function isFresh(
  ports: Ports<'now'>,
  { authenticatedAt }: Pick<Principal, 'authenticatedAt'>,
  within = freshMs,
): boolean {
  return ports.now().getTime() - Date.parse(authenticatedAt) < within
}

/** The member behind a request of a page that only members can open. */
export function principalOf(request: FastifyRequest): Principal {
  if (!request.principal) throw new Problem(401, 'unauthorized', 'Sign in first.')
  return request.principal
}

/** The origin in the metadata of every event that the request causes. */
export function originOfMember(request: FastifyRequest): Origin {
  const { tenantId, memberId } = principalOf(request)
  const source = () => ({ tenantId, memberId, address: addressOf(request) })
  return { requestId: request.id, actor: `member:${memberId}`, source }
}

export const deciderOf = ({ memberId, tenantId, role }: Principal): LoginDecider => ({
  memberId,
  tenantId,
  role,
})
