import type { FastifyInstance, FastifyRequest, onRequestHookHandler } from 'fastify'
import { reservedTenantIds } from '../../domain/tenants/tenant.ts'
import { admitClient, type ClientAuthority } from './admit.ts'
import type { ClientRoute } from './client.ts'
import { forAnyOrigin, preflight } from './origins.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /**
     * The route is called by apps with an SDK key, under `/:tenantId/:productId/`. `request.client` is set before
     * the body is read, unless the route {@link FastifyContextConfig.admitsItself}.
     */
    client?: ClientRoute
    /** Pages of any origin may read the response, refusals included. */
    anyOrigin?: boolean
  }
}

/**
 * Sets the CORS header before the request can be refused: a page that may not read a refusal cannot tell it from a
 * network error.
 */
export const allowAnyOrigin: onRequestHookHandler = (request, reply, done) => {
  if (request.routeOptions.config.anyOrigin && !isReserved(request)) {
    reply.headers(forAnyOrigin)
  }
  done()
}

/**
 * Adds what all client routes share: rate limits first, then the check of SDK key, tenant and product; preflight
 * responses; and 404 for a reserved first path segment.
 */
export function clientEdge(app: FastifyInstance, authority: ClientAuthority): void {
  app.decorateRequest('client', undefined)
  app.addHook('onRoute', (route) => {
    const { client, anyOrigin, admitsItself } = route.config ?? {}
    if (client !== undefined) {
      if (route.config) route.config.anyOrigin = true
      if (route.schema) route.schema.security = [{ sdkKey: [] }]
    }
    const own = [route.onRequest ?? []].flat()
    if (client !== undefined || anyOrigin) own.push(passOverReserved)
    if (client !== undefined) own.push(arriving(authority, client))
    if (client !== undefined && !admitsItself) own.push(admitting(authority))
    route.onRequest = own
  })
}

const isReserved = ({ params }: FastifyRequest): boolean =>
  reservedTenantIds.has((params as { tenantId?: string }).tenantId ?? '')

/**
 * Excludes reserved first segments from the client routes: their templates would also match
 * `/v1/products/activate`.
 */
export const passOverReserved: onRequestHookHandler = (request, reply, done) => {
  if (isReserved(request)) reply.callNotFound()
  else done()
}

const arriving =
  ({ clientLimits }: ClientAuthority, route: ClientRoute): onRequestHookHandler =>
  (_request, reply, done) => {
    const waiting = clientLimits.arriving(route, reply)
    if (waiting) waiting.then(() => done(), done)
    else done()
  }

const admitting =
  (authority: ClientAuthority): onRequestHookHandler =>
  (request, _reply, done) => {
    admitClient(authority, request).then(() => done(), done)
  }

/** Answers the CORS preflight of a browser. */
export function answerPreflight(app: FastifyInstance, url: string): void {
  app.route({
    method: 'OPTIONS',
    url,
    // Browsers ask about the whole address, and a page may read only the refusal of the call itself.
    config: { anyOrigin: true, foreignQuery: 'always' },
    schema: { hide: true },
    handler: (_request, reply) => reply.code(204).headers(preflight).send(),
  })
}
