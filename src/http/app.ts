import type { KeyObject } from 'node:crypto'
import Fastify, {
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyRequest,
  LogController,
} from 'fastify'
import { type FastifyZodOpenApiTypeProvider, validatorCompiler } from 'fastify-zod-openapi'
import type { Services } from '../commands/services.ts'
import { newId } from '../credentials/id.ts'
import type { Limits } from '../limits/limits.ts'
import { createTestPurchaseDriver, type SendNotification } from '../reactions/test-purchase-driver.ts'
import { createTestPurchaseRunner } from '../reactions/test-purchases.ts'
import type { Tracing } from '../tracing/tracing.ts'
import { admit, authenticate } from './authenticate.ts'
import { admitClient } from './client/admit.ts'
import { allowAnyOrigin, clientEdge } from './client/edge.ts'
import { createClientLimits } from './client/limits.ts'
import { clientRoutes } from './client/routes.ts'
import { boundConnections, type ConnectionBounds, defaultBounds, serverOptions } from './connections.ts'
import type { Cursors } from './cursor.ts'
import { dashboard } from './dashboard/dashboard.ts'
import { limitDocuments } from './documents.ts'
import { drainOnClose } from './drain.ts'
import { answerErrors, sendProblem } from './errors.ts'
import { honourIdempotencyKeys } from './idempotency.ts'
import { auditRoutes } from './management/audit.ts'
import { cardAccountRoutes } from './management/card-account.ts'
import { confirmationRoutes } from './management/confirmations.ts'
import { customerRoutes } from './management/customers.ts'
import { deliveryRoutes } from './management/deliveries.ts'
import { eventRoutes } from './management/events.ts'
import { evidenceRoutes } from './management/evidence.ts'
import { integrationRoutes } from './management/integrations.ts'
import { keyTypeRoutes } from './management/key-types.ts'
import { licenseChangeRoutes } from './management/license-changes.ts'
import { licenseExportRoutes } from './management/license-export.ts'
import { licenseImportRoutes } from './management/license-import.ts'
import { licenseStoryRoutes } from './management/license-story.ts'
import { licenseUndoRoutes } from './management/license-undo.ts'
import { licenseRoutes } from './management/licenses.ts'
import { loginRoutes } from './management/login.ts'
import { mailRoutes } from './management/mail.ts'
import { productRoutes } from './management/products.ts'
import { saleRoutes } from './management/sales.ts'
import { sdkKeyRoutes } from './management/sdk-key.ts'
import { sellingRoutes } from './management/selling.ts'
import { testPurchaseRoutes } from './management/test-purchases.ts'
import { tokenRoutes } from './management/tokens.ts'
import { usageRoutes } from './management/usage.ts'
import { webhookRoutes } from './management/webhook.ts'
import { describeApi, openApiRoute } from './openapi.ts'
import { acceptEmptyBodies } from './optional-bodies.ts'
import { refuseWhenLate } from './overload.ts'
import { paymentRoutes } from './payments/routes.ts'
import { invalid } from './problem.ts'
import { runtimeRoutes } from './runtime/licenses.ts'
import { compileWhenFirstUsed } from './serializers.ts'
import { healthRoutes, type Readiness } from './system/health.ts'
import { type Metrics, measureThisProcess, metricsRoutes } from './system/metrics.ts'
import { limitRequests } from './time-limit.ts'
import { traceRequests } from './tracing.ts'
import { answerUnknownRoutes } from './wrong-method.ts'
import type { ZodApp } from './zod-app.ts'

export type AppOptions = {
  services: Services
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
  managementRoutes(app, routes, options)
  runtimeRoutes(routes, services, authority)
  clientRoutes(routes, services, clientAuthority)
  await dashboard(app, options)
  await app.ready()
  return app
}

/** What vendors' programs call, and what providers and customers call beside it. */
function managementRoutes(
  app: FastifyInstance,
  routes: ZodApp,
  { services, cursors, baseUrl, limits }: AppOptions,
): void {
  tokenRoutes(routes)
  loginRoutes(routes, services, baseUrl)
  confirmationRoutes(routes, services)
  productRoutes(routes, services, cursors)
  keyTypeRoutes(routes, services)
  mailRoutes(routes, services)
  licenseRoutes(routes, services, cursors)
  licenseChangeRoutes(routes, services)
  licenseStoryRoutes(routes, services, cursors)
  licenseImportRoutes(routes, services)
  licenseUndoRoutes(routes, services)
  licenseExportRoutes(routes, services)
  evidenceRoutes(routes, services)
  customerRoutes(routes, services, cursors)
  usageRoutes(routes, services)
  sdkKeyRoutes(routes, services)
  webhookRoutes(routes, services)
  deliveryRoutes(routes, services, cursors)
  eventRoutes(routes, services, cursors)
  integrationRoutes(routes, services, cursors, baseUrl)
  cardAccountRoutes(routes, services, baseUrl)
  paymentRoutes(routes, services, limits, baseUrl)
  sellingRoutes(routes, services)
  saleRoutes(routes, services, cursors)
  auditRoutes(routes, services, cursors)
  testPurchaseRoutes(
    routes,
    services,
    createTestPurchaseRunner(services, createTestPurchaseDriver(services, sendWithin(app))),
  )
}

/** What every answer says, unless its route says otherwise: most are about one caller, and none is to be guessed at. */
const commonHeaders = ({ id }: FastifyRequest) => ({
  'request-id': id,
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
})

/** To the same routes as over the network, so that nothing of a notification is taken on trust. */
export function sendWithin(app: FastifyInstance): SendNotification {
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
