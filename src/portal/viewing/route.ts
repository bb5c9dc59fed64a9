import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { endViewing, openViewing } from '../../access/portal-viewings.ts'
import { recordAudit } from '../../commands/audit.ts'
import { isId } from '../../credentials/id.ts'
import { newSecret } from '../../credentials/secret.ts'
import type { Ports } from '../../ports.ts'
import type { PortalContext } from '../context.ts'
import type { Cookies } from '../cookies.ts'
import { message, showPage, showPlain } from '../page.ts'
import { visitOf } from '../visit.ts'
import { isOver, readOnly, toDashboard, uselessLink } from './view.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Answered in a viewing whatever it does, and after it has ended. */
    inAnyViewing?: true
    /** Refused in a viewing although it reads: it signs a person in. */
    inNoViewing?: true
  }
}

type Words = typeof readOnly

/** Shows the member a page that says one thing, with a way back to the dashboard. */
function tell(request: FastifyRequest, reply: FastifyReply, { title, text }: Words, status: number) {
  const visit = request.portalVisit
  if (!visit) return showPlain(reply, title, text, status)
  return showPage(reply, visit, { title, content: message(title, text, toDashboard()) }, status)
}

/**
 * Makes everything read only in the browser of a member who sees the portal as a customer does: each request that could change
 * something is refused before it is read, whatever its route. Views of licenses are recorded as those of the dashboard are.
 */
export function guardViewings(
  app: FastifyInstance,
  { ports, cookies }: { ports: Ports<'execute' | 'newId' | 'now'>; cookies: Cookies },
): void {
  app.addHook('onRequest', async (request, reply) => {
    if (cookies.get(request, 'viewing') === undefined || request.routeOptions.config.inAnyViewing) return
    const reads =
      (request.method === 'GET' || request.method === 'HEAD') && !request.routeOptions.config.inNoViewing
    const { portalVisit: visit } = request
    const over = visit?.viewing === 'over'
    if (over) cookies.clear(reply, visit.tenantId, 'viewing')
    if (!reads) return tell(request, reply, over ? isOver : readOnly, 403)
    if (over) return tell(request, reply, isOver, 410)
  })
  // After everything that refuses a request, because a refusal shows nothing.
  app.addHook('preHandler', async (request) => {
    const { viewing, tenantId } = request.portalVisit ?? {}
    const { id } = request.params as { id?: string }
    if (typeof viewing !== 'object' || tenantId === undefined || id === undefined || !isId('lic', id)) return
    const origin = { requestId: request.id, actor: `member:${viewing.memberId}` }
    await recordAudit(ports, tenantId, { action: 'viewed', target: { kind: 'license', id } }, origin)
  })
}

const LinkToken = z.object({ token: z.string().max(100) })

/** Begins a viewing with the link that the dashboard redirects to, and ends it. */
export function viewingRoutes(app: FastifyInstance, { ports, cookies }: PortalContext): void {
  const always = { inAnyViewing: true } as const
  const schema = { hide: true }

  app.get(
    '/:tenantId/viewing',
    { config: { ...always, query: LinkToken }, schema },
    async (request, reply) => {
      const { tenantId, home } = visitOf(request)
      const link = LinkToken.safeParse(request.query).data?.token ?? ''
      // A browser states here that another site led to the link, which would show a stranger what is a customer's.
      const site = request.headers['sec-fetch-site']
      const viewing = newSecret(ports.randomBytes)
      if (site !== undefined && site !== 'same-origin') return tell(request, reply, uselessLink, 410)
      if (!(await openViewing(ports.db, { link, tenantId, viewing }, ports.now())))
        return tell(request, reply, uselessLink, 410)
      cookies.set(reply, tenantId, 'viewing', viewing)
      return reply.redirect(home, 303)
    },
  )

  app.post('/:tenantId/viewing/end', { config: always, schema }, async (request, reply) => {
    const { tenantId } = visitOf(request)
    const customerId = await endViewing(
      ports.db,
      tenantId,
      cookies.get(request, 'viewing') ?? '',
      ports.now(),
    )
    cookies.clear(reply, tenantId, 'viewing')
    return reply.redirect(
      customerId === undefined ? '/dashboard/customers' : `/dashboard/customers/${customerId}`,
      303,
    )
  })
}
