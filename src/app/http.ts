import type { KeyObject } from 'node:crypto'
import Fastify, {
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyRequest,
  LogController,
} from 'fastify'
import { type FastifyZodOpenApiTypeProvider, validatorCompiler } from 'fastify-zod-openapi'
import { admitClient } from '../api/client/admit.ts'
import { allowAnyOrigin, clientEdge } from '../api/client/edge.ts'
import { createClientLimits } from '../api/client/limits.ts'
import { clientRoutes } from '../api/client/routes.ts'
import { managementRoutes } from '../api/routes.ts'
import { runtimeRoutes } from '../api/runtime/licenses.ts'
import { type Metrics, measureThisProcess, metricsRoutes } from '../api/system/metrics.ts'
import { type ConnectionBounds, defaultBounds } from '../config/connections.ts'
import { newId } from '../credentials/id.ts'
import { dashboard } from '../dashboard/dashboard.ts'
import { admit, authenticate } from '../http/authenticate.ts'
import { boundConnections, serverOptions } from '../http/connections.ts'
import type { Cursors } from '../http/cursor.ts'
import { drainOnClose } from '../http/drain.ts'
import { answerErrors, sendProblem } from '../http/errors.ts'
import { healthRoutes, type Readiness } from '../http/health.ts'
import { honourIdempotencyKeys } from '../http/idempotency.ts'
import { limitDocuments } from '../http/openapi/documents.ts'
import { describeApi, openApiRoute } from '../http/openapi/openapi.ts'
import { acceptEmptyBodies } from '../http/openapi/optional-bodies.ts'
import { refuseWhenLate } from '../http/overload.ts'
import { invalid } from '../http/problem.ts'
import { compileWhenFirstUsed } from '../http/serializers.ts'
import { limitRequests } from '../http/time-limit.ts'
import { traceRequests } from '../http/tracing.ts'
import { answerUnknownRoutes } from '../http/wrong-method.ts'
import type { Limits } from '../limits/limits.ts'
import type { AllPorts } from '../ports.ts'
import { createTestPurchaseDriver, type SendNotification } from '../processes/test-purchase-driver.ts'
import { createTestPurchaseRunner } from '../processes/test-purchases.ts'
import type { Tracing } from '../tracing/tracing.ts'

export type AppOptions = {
  services: AllPorts
  cursors: Cursors
  readiness: () => Promise<Readiness>
  /** How the addresses that are handed out begin. */
  baseUrl: string
  limits: Limits
  /** Proxies whose word on a caller's address is taken; undefined: nobody's, it is the socket's. */
  trustProxy?: string[] | undefined
  /** What the dashboard's cookies are made with. */
  cookieKey: KeyObject
  /** A loop that is later than this refuses with 503 until it has caught up; 0 never refuses. */
  maxEventLoopDelayMs?: number
  /** After which a request that waits for a store is answered 503. */
  requestLimitMs?: number
  /** What a monitor shows to read the metrics; undefined: nobody reads them. */
  metricsToken?: string | undefined
  /** What is measured; this process alone unless given. */
  metrics?: Metrics | undefined
  /** Shows requests in traces; undefined: traces are off. */
  tracing?: Tracing | undefined
  /** How long a connection may stall, and how many there may be. */
  connections?: ConnectionBounds
  log: FastifyBaseLogger
}

/** Composes every edge into one application. It does not listen. */
export async function createApp(options: AppOptions): Promise<FastifyInstance> {
  const { services, readiness, connections = defaultBounds } = options
  const app = Fastify({
    ...serverOptions(connections),
    loggerInstance: options.log,
    logController: new LogController({ disableRequestLogging: true }),
    // Lines name the request themselves; a logger for each would cost more than most requests do.
    childLoggerFactory: (logger) => logger,
    genReqId: () => newId('req'),
    bodyLimit: 1_048_576,
    // What still comes in on an open connection while the application drains is answered, and the connection ended.
    return503OnClosing: false,
    trustProxy: options.trustProxy ?? false,
    // As long as an address may be: each route says itself, and as described, that there is no such thing.
    routerOptions: { ignoreTrailingSlash: false, maxParamLength: 16_384 },
    // What Fastify refuses before it has found a route.
    frameworkErrors: (error, request, reply) => {
      void sendProblem(request, reply.headers(commonHeaders(request)), invalid(error.message))
    },
  })
  boundConnections(app, connections)
  if (options.tracing) traceRequests(app, options.tracing)
  app.setValidatorCompiler(validatorCompiler)
  app.setSerializerCompiler(compileWhenFirstUsed)
  acceptEmptyBodies(app)
  app.decorateRequest('caller', undefined)
  const authority = { ...services, limits: options.limits }
  const clientAuthority = {
    ...services,
    clientLimits: createClientLimits(options.limits, services.limitHits),
  }
  answerErrors(app, async (request) => {
    if (request.routeOptions.config.client) await admitClient(clientAuthority, request)
    else await admit(authority, request)
  })
  app.decorateRequest('gatedInput', undefined)
  app.decorate('baseUrl', options.baseUrl)
  answerUnknownRoutes(app)
  app.addHook('onRequest', (request, reply, done) => {
    reply.headers(commonHeaders(request))
    if (app.endConnections) reply.header('connection', 'close')
    done()
  })
  app.addHook('onRequest', allowAnyOrigin)
  logFailures(app)
  drainOnClose(app)
  limitRequests(app, options.requestLimitMs)
  await refuseWhenLate(app, options.maxEventLoopDelayMs ?? 2000)
  limitDocuments(app, options.limits.documents)
  await describeApi(app, options.baseUrl)

  app.addHook('onRequest', authenticate(authority))
  honourIdempotencyKeys(app, services.idempotency)
  clientEdge(app, clientAuthority)
  const routes = app.withTypeProvider<FastifyZodOpenApiTypeProvider>()
  metricsRoutes(routes, options.metrics ?? measureThisProcess(), readiness, services, options.metricsToken)
  healthRoutes(routes, readiness)
  openApiRoute(routes)
  managementRoutes(routes, {
    services,
    cursors: options.cursors,
    baseUrl: options.baseUrl,
    limits: options.limits,
    runTestPurchase: createTestPurchaseRunner(
      services,
      createTestPurchaseDriver(services, sendInProcess(app)),
    ),
  })
  runtimeRoutes(routes, services, authority)
  clientRoutes(routes, services, clientAuthority)
  await dashboard(app, options)
  await app.ready()
  return app
}

/** What every answer says, unless its route says otherwise: most are about one caller, and none is to be guessed at. */
const commonHeaders = ({ id }: FastifyRequest) => ({
  'request-id': id,
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
})

/** To the same routes as over the network, so that nothing of a notification is taken on trust. */
export function sendInProcess(app: FastifyInstance): SendNotification {
  return async ({ path, headers, body }) => {
    const answer = await app.inject({ method: 'POST', url: path, headers, payload: body })
    return { status: answer.statusCode, body: answer.body }
  }
}

/** Successes are counted in the metrics; what failed is worth a line with the id that the caller was given. */
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
