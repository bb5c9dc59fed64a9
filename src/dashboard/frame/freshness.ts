import type { FastifyInstance } from 'fastify'
import { countPendingConfirmations } from '../../../projections/confirmations/queries.ts'
import { type Freshness, readFreshness } from '../../../projections/runner/freshness.ts'
import { momentOf } from '../../commands/origin.ts'
import { may } from '../../domain/members/roles.ts'
import type { Ports } from '../../ports.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** How old what the page shows is at most; undefined where no whole page is asked for. */
    freshness: Freshness | undefined
    /** How many requests wait for an approval, for those who decide; undefined for others and where no whole page is. */
    waiting: number | undefined
  }
}

/** Looks at where the read models stand before a page reads from them, so that what it says is never too fresh. */
export function noteFreshness(app: FastifyInstance, services: Ports<'db' | 'ledger' | 'now'>): void {
  const { db, ledger } = services
  app.decorateRequest('freshness', undefined)
  app.decorateRequest('waiting', undefined)
  app.addHook('preHandler', async (request) => {
    const { principal } = request
    const isPart = request.headers['hx-request'] !== undefined || request.routeOptions.config.background
    if (!principal || isPart) return
    const decides = may(principal.role, 'decide_confirmations')
    const [freshness, waiting] = await Promise.all([
      readFreshness(db, ledger),
      decides ? countPendingConfirmations(db, principal.tenantId, momentOf(services)) : undefined,
    ])
    request.freshness = freshness
    request.waiting = waiting
  })
}
