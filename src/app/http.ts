import type { KeyObject } from 'node:crypto'
import Fastify, {
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyRequest,
  LogController,
} from 'fastify'
import type { FastifyZodOpenApiTypeProvider } from 'fastify-zod-openapi'
import { admitClient } from '../api/client/admit.ts'
import { allowAnyOrigin, clientEdge } from '../api/client/edge.ts'
import { createClientLimits } from '../api/client/limits.ts'
import { clientRoutes } from '../api/client/routes.ts'
import { managementRoutes } from '../api/routes.ts'
import { runtimeRoutes } from '../api/runtime/licenses.ts'
import { type Metrics, measureThisProcess, metricsRoutes } from '../api/system/metrics.ts'
import { type ConnectionBounds, defaultBounds } from '../config/shown.ts'
import { newId } from '../credentials/id.ts'
import { dashboard } from '../dashboard/dashboard.ts'
import { admit, authenticate } from '../http/authenticate.ts'
import type { Cursors } from '../http/cursor.ts'
import { drainOnClose } from '../http/drain.ts'
import { offerDryRuns } from '../http/dry-run.ts'
import { answerErrors, problemOf, sendProblem } from '../http/errors.ts'
import { checkConfirmations } from '../http/gate.ts'
import { healthRoutes, type Readiness } from '../http/health.ts'
import { honourIdempotencyKeys } from '../http/idempotency.ts'
import { boundBodies } from '../http/limits/bodies.ts'
import { boundConnections, serverOptions } from '../http/limits/connections.ts'
import { refuseWhenLate } from '../http/limits/overload.ts'
import { limitRequests } from '../http/limits/time-limit.ts'
import { limitDocuments } from '../http/openapi/documents.ts'
import { describeApi, openApiRoute } from '../http/openapi/openapi.ts'
import { refuseUnknownParameters } from '../http/query.ts'
import { traceRequests } from '../http/tracing.ts'
import { serializeChecked, validateParts } from '../http/validation.ts'
import { answerUnknownRoutes } from '../http/wrong-method.ts'
import type { Limits } from '../limits/limits.ts'
import { mcpRoute } from '../mcp/route.ts'
import { portal } from '../portal/portal.ts'
import type { AllPorts } from '../ports.ts'
import { createTestPurchaseDriver, type SendNotification } from '../reactions/test-purchase-driver.ts'
import { createTestPurchaseRunner } from '../reactions/test-purchases.ts'
import type { Tracing } from '../tracing/tracing.ts'
import { ownVersion } from './own-version.ts'

export type AppOptions = {
  ports: AllPorts
  cursors: Cursors
  readiness: () => Promise<Readiness>
  /** The base of all URLs that keyledger hands out. */
  baseUrl: string
  limits: Limits
  /** Proxies whose X-Forwarded-For is trusted; undefined trusts none and uses the socket's address. */
  trustProxy?: string[] | undefined
  /** Key material for the cookies of the dashboard. */
  cookieKey: KeyObject
  /** Requests get 503 while the event loop is later than this; 0 never refuses. */
  maxEventLoopDelayMs?: number
  /** A request that waits longer than this for a store gets 503. */
  requestLimitMs?: number
  /** The token that a monitor needs to read the metrics; undefined closes the route. */
  metricsToken?: string | undefined
  /** The metrics to serve; undefined measures this process alone. */
  metrics?: Metrics | undefined
  /** Records requests in traces; undefined when traces are off. */
  tracing?: Tracing | undefined
  /** Limits on the number of connections and on how long each may stall. */
  connections?: ConnectionBounds
  log: FastifyBaseLogger
}

/** Composes all routes into one application. It does not listen. */
export async function createApp(options: AppOptions): Promise<FastifyInstance> {
  const { ports, readiness, connections = defaultBounds } = options
  const app = Fastify({
    ...serverOptions(connections),
    loggerInstance: options.log,
    logController: new LogController({ disableRequestLogging: true }),
    // The log lines name the request themselves; a child logger per request would cost more than most requests.
    childLoggerFactory: (logger) => logger,
    genReqId: () => newId('req'),
    bodyLimit: 1_048_576,
    // While the application drains, requests on open connections are still answered, and each connection is then
    // closed.
    return503OnClosing: false,
    trustProxy: options.trustProxy ?? false,
    // As long as a URL may be, so that the route itself answers an overlong id with its documented 404.
    routerOptions: { ignoreTrailingSlash: false, maxParamLength: 16_384 },
    // Requests that Fastify rejects before it has found a route.
    frameworkErrors: (error, request, reply) => {
      void sendProblem(request, reply.headers(commonHeaders(request)), problemOf(error))
    },
  })
  boundConnections(app, connections)
  if (options.tracing) traceRequests(app, options.tracing)
  app.setValidatorCompiler(validateParts).setSerializerCompiler(serializeChecked)
  boundBodies(app)
  app.decorateRequest('caller', undefined)
  const authority = { ...ports, limits: options.limits }
  const clientAuthority = {
    ...ports,
    clientLimits: createClientLimits(options.limits, ports.limitHits),
  }
  answerErrors(app, async (reply) => {
    const { request } = reply
    if (request.routeOptions.config.client) await admitClient(clientAuthority, request)
    else await admit(authority, reply)
  })
  app.decorate('baseUrl', options.baseUrl)
  answerUnknownRoutes(app)
  offerDryRuns(app, ports)
  refuseUnknownParameters(app)
  app.addHook('onRequest', (request, reply, done) => {
    reply.headers(commonHeaders(request))
    if (app.endConnections) reply.header('connection', 'close')
    done()
  })
  app.addHook('onRequest', allowAnyOrigin)
  logFailures(app)
  drainOnClose(app)
  limitRequests(app, options.requestLimitMs)
  refuseWhenLate(app, options.maxEventLoopDelayMs ?? 2000)
  limitDocuments(app, options.limits.documents)
  await describeApi(app, options.baseUrl)
  app.addHook('onRequest', authenticate(authority))
  checkConfirmations(app)
  honourIdempotencyKeys(app, ports.idempotency)
  clientEdge(app, clientAuthority)
  const routes = app.withTypeProvider<FastifyZodOpenApiTypeProvider>()
  metricsRoutes(routes, options.metrics ?? measureThisProcess(), readiness, ports, options.metricsToken)
  healthRoutes(routes, readiness)
  openApiRoute(routes)
  managementRoutes(routes, {
    ports,
    cursors: options.cursors,
    baseUrl: options.baseUrl,
    limits: options.limits,
    runTestPurchase: createTestPurchaseRunner(ports, createTestPurchaseDriver(ports, sendInProcess(app))),
  })
  runtimeRoutes(routes, ports, authority)
  clientRoutes(routes, ports, clientAuthority, options.baseUrl)
  mcpRoute(app, ownVersion())
  await dashboard(app, options)
  await portal(app, options)
  await app.ready()
  return app
}

/**
 * Headers of every response, unless the route sets others. Most responses belong to one caller, so none may be
 * cached.
 */
const commonHeaders = ({ id }: FastifyRequest) => ({
  'request-id': id,
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
})

/** Sends a notification to the same routes as a request over the network, so that it passes the same checks. */
export function sendInProcess(app: FastifyInstance): SendNotification {
  return async ({ path, headers, body }) => {
    const answer = await app.inject({ method: 'POST', url: path, headers, payload: body })
    return { status: answer.statusCode, body: answer.body }
  }
}

/** Logs failed requests with the id that the caller received. Successful ones are only counted in the metrics. */
function logFailures(app: FastifyInstance): void {
  app.addHook('onResponse', (request, reply, done) => {
    if (reply.statusCode >= 500) {
      const { method, id } = request
      const route = request.routeOptions.url
      request.log.warn(
        { request_id: id, method, route, status: reply.statusCode, duration_ms: reply.elapsedTime },
        'request.answered',
      )
    }
    done()
  })
}
