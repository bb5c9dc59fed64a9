import type { FastifyInstance } from 'fastify'
import { countPendingConfirmations } from '../../../projections/confirmations.ts'
import { type Freshness, maxCounted, readFreshness } from '../../../projections/runner/freshness.ts'
import { momentOf } from '../../commands/origin.ts'
import { may } from '../../domain/members/roles.ts'
import { type Html, html } from '../../html.ts'
import type { Ports } from '../../ports.ts'
import { ageWords } from './moments.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** The maximum age of the page's data; undefined for requests that do not load a whole page. */
    freshness: Freshness | undefined
    /**
     * The number of pending approvals; undefined for members who may not approve, and for requests that do not load
     * a whole page.
     */
    waiting: number | undefined
  }
}

/**
 * Reads the position of the read models before the page reads from them, so that the stated age is never too low.
 */
export function noteFreshness(app: FastifyInstance, ports: Ports<'db' | 'ledger' | 'now'>): void {
  const { db, ledger } = ports
  app.decorateRequest('freshness', undefined)
  app.decorateRequest('waiting', undefined)
  app.addHook('preHandler', async (request) => {
    const { principal } = request
    const isPart = request.headers['hx-request'] !== undefined || request.routeOptions.config.background
    if (!principal || isPart) return
    const decides = may(principal.role, 'decide_confirmations')
    const [freshness, waiting] = await Promise.all([
      readFreshness(db, ledger),
      decides ? countPendingConfirmations(db, principal.tenantId, momentOf(ports)) : undefined,
    ])
    request.freshness = freshness
    request.waiting = waiting
  })
}

/** The line at the end of a page that states its age: when its data last changed, and whether changes are missing. */
export function freshnessLine({ position, ageMs, waiting }: Freshness): Html {
  const updated = position < 0n ? 'Nothing recorded yet' : `Updated ${ageWords(ageMs)}`
  return html`<footer class="freshness">
    <p>${updated}; <span class=${waiting === 0 ? undefined : 'behind'}>${newer(waiting)}</span>.</p>
  </footer>`
}

function newer(waiting: number | undefined): string {
  if (waiting === undefined) return 'newer events unknown, because the event store is not responding'
  if (waiting === 0) return 'up to date'
  if (waiting === 1) return '1 newer event is being processed'
  return `${waiting}${waiting < maxCounted ? '' : ' or more'} newer events are being processed`
}
