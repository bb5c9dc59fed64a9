import type { FastifyInstance } from 'fastify'
import { type Freshness, readFreshness } from '../../../projections/runner/freshness.ts'
import type { Services } from '../../commands/services.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** How old what the page shows is at most; undefined where no whole page is asked for. */
    freshness: Freshness | undefined
  }
}

/** Looks at where the read models stand before a page reads from them, so that what it says is never too fresh. */
export function noteFreshness(app: FastifyInstance, { db, ledger }: Pick<Services, 'db' | 'ledger'>): void {
  app.decorateRequest('freshness', undefined)
  app.addHook('preHandler', async (request) => {
    if (request.signed && request.headers['hx-request'] === undefined)
      request.freshness = await readFreshness(db, ledger)
  })
}
