import type { FastifyInstance, FastifyRequest, onRequestHookHandler } from 'fastify'
import { reservedTenantIds } from '../../domain/tenants/tenant.ts'
import { admitClient, type ClientAuthority } from './admit.ts'
import type { ClientRoute } from './client.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /**
     * Called by apps, with an SDK key: under `/:tenantId/:productId/`. Unless the route
     * {@link FastifyContextConfig.admitsItself}, `request.client` is set before the body is read.
     */
    client?: ClientRoute
    /** Pages of any origin may read the answer, refusals included. */
    anyOrigin?: boolean
  }
}

const exposed = [
  'Request-Id',
  'Retry-After',
  'X-Service-Limit-Scope',
  'X-Service-Limit',
  'X-Service-Remaining',
].join(', ')

const preflight = {
  'access-control-allow-methods': 'GET, HEAD, POST',
  'access-control-allow-headers': 'Content-Type, X-Service-SDK-Key, If-None-Match',
  'access-control-max-age': '7200',
}

/**
 * Says of answers that any origin may read them, before anything can refuse the request: a page that may not read a
 * refusal cannot tell it from a broken connection.
 */
export const allowAnyOrigin: onRequestHookHandler = (request, reply, done) => {
  if (request.routeOptions.config.anyOrigin && !isReserved(request)) {
    reply.header('access-control-allow-origin', '*').header('access-control-expose-headers', exposed)
  }
  done()
}

/**
 * What every client route has in common, by what it declares: limits before all else, then the SDK key, the tenant's
 * state and the product; a preflight; and a first path segment of the service's own is never taken for a tenant.
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

/** The client interface stands at the root: `/v1/products/activate` fits its templates, and is none of it. */
export const passOverReserved: onRequestHookHandler = (request, reply, done) => {
  if (isReserved(request)) reply.callNotFound()
  else done()
}

const arriving =
  ({ clientLimits }: ClientAuthority, route: ClientRoute): onRequestHookHandler =>
  (request, _reply, done) => {
    const waiting = clientLimits.arriving(route, request)
    if (waiting) waiting.then(() => done(), done)
    else done()
  }

const admitting =
  (authority: ClientAuthority): onRequestHookHandler =>
  (request, _reply, done) => {
    admitClient(authority, request).then(() => done(), done)
  }

/** Answers what a browser asks before it sends a page's request to another origin. */
export function answerPreflight(app: FastifyInstance, url: string): void {
  app.route({
    method: 'OPTIONS',
    url,
    config: { anyOrigin: true },
    schema: { hide: true },
    handler: (_request, reply) => reply.code(204).headers(preflight).send(),
  })
}
