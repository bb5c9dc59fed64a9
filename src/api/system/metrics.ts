import type { onRequestHookHandler } from 'fastify'
import { collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import { z } from 'zod'
import { expiryLagMs } from '../../../projections/licenses/expiries.ts'
import { countRunningReplays } from '../../../projections/replays.ts'
import { countSharedMachines } from '../../../projections/trials.ts'
import { momentOf } from '../../commands/origin.ts'
import { sameDigest, sha256 } from '../../credentials/sha256.ts'
import type { Readiness } from '../../http/health.ts'
import { notFound, Problem } from '../../http/problem.ts'
import { answer, errorBody, limited } from '../../http/schemas.ts'
import type { ZodApp } from '../../http/validation.ts'
import type { Ports } from '../../ports.ts'
import { measureAudits } from './audit-metrics.ts'
import { measureBackups } from './backup-metrics.ts'
import { measureNotary } from './notary-metrics.ts'

/** The metrics of all processes that serve together. */
export type Metrics = {
  /** The metrics of this process. */
  registry: Registry
  /** The metrics of all processes, in Prometheus' text format. */
  read(): Promise<string>
}

/** For a server that is a single process. */
export function measureThisProcess(): Metrics {
  const registry = new Registry()
  return { registry, read: () => registry.metrics() }
}

/**
 * Prometheus metrics: requests by route and status, and the lag of the projector and the process managers.
 * @param token the token that a monitor sends; undefined closes the route
 */
export function metricsRoutes(
  app: ZodApp,
  { registry, read }: Metrics,
  readinessOf: () => Promise<Readiness>,
  ports: Ports<'db' | 'now'>,
  token: string | undefined,
): void {
  // These measure all the time, and wake an idle process a hundred times a second.
  if (token !== undefined) collectDefaultMetrics({ register: registry })
  // Values of the whole installation, so they are not summed over processes.
  const installation = new Registry()
  const duration = new Histogram({
    name: 'keyledger_request_duration_seconds',
    help: 'Duration of a request, from the request line to the last byte of the response',
    labelNames: ['method', 'route', 'status'],
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5],
    registers: [registry],
  })
  const lag = new Gauge({
    name: 'keyledger_projection_lag_events',
    help: 'Events not yet in the read models, counted up to 1,000',
    registers: [installation],
  })
  const parked = new Gauge({
    name: 'keyledger_projection_parked_streams',
    help: 'Parked streams, which have an event that cannot be applied, counted up to 1,000',
    registers: [installation],
  })
  const overdue = new Gauge({
    name: 'keyledger_expiry_overdue_seconds',
    help: 'Age of the oldest license expiry that is not recorded yet',
    registers: [installation],
  })
  const sharedMachines = new Gauge({
    name: 'keyledger_trial_shared_machines',
    help: 'Machine hashes shared by implausibly many installs; their trials are not counted',
    registers: [installation],
  })
  const replays = new Gauge({
    name: 'keyledger_webhook_replays_running',
    help: 'Replays of webhook deliveries that are running',
    registers: [installation],
  })
  const takes = [measureBackups, measureNotary, measureAudits].map((of) => of(ports.db, installation))

  app.addHook('onResponse', (request, reply, done) => {
    const route = request.routeOptions.url ?? 'unknown'
    duration.observe({ method: request.method, route, status: reply.statusCode }, reply.elapsedTime / 1000)
    done()
  })

  app.get(
    '/metrics',
    {
      config: { probe: true, document: true },
      onRequest: admitMonitors(token),
      schema: {
        operationId: 'metrics',
        tags: ['System'],
        summary: "Prometheus metrics, for requests with the installation's metrics token",
        description:
          'Of all processes of the installation. Without `KEYLEDGER_METRICS_TOKEN` this path is 404.',
        security: [{ metricsToken: [] }],
        response: {
          200: { description: 'Text', content: { 'text/plain': { schema: z.string() } } },
          401: answer('Missing or wrong token', errorBody),
          404: answer('The installation has no metrics token, so its metrics are not served', errorBody),
          ...limited(),
        },
      },
    },
    async (_request, reply) => {
      const [{ projection }, waitedMs, machines, running] = await Promise.all([
        readinessOf(),
        // Without the database, these keep their last values and the others are still served.
        expiryLagMs(ports.db, momentOf(ports)).catch(() => undefined),
        countSharedMachines(ports.db).catch(() => undefined),
        countRunningReplays(ports.db).catch(() => undefined),
        ...takes.map((take) => take()),
      ])
      if (running !== undefined) replays.set(running)
      if (machines !== undefined) sharedMachines.set(machines)
      if (waitedMs !== undefined) overdue.set(waitedMs / 1000)
      lag.set(projection.lag_events)
      parked.set(projection.parked)
      const [measured, common] = await Promise.all([read(), installation.metrics()])
      return reply.type(registry.contentType).send(measured + common)
    },
  )
}

function admitMonitors(token: string | undefined): onRequestHookHandler {
  const expected = token === undefined ? undefined : sha256(token)
  return ({ headers }, _reply, done) => {
    if (expected === undefined)
      return done(notFound('metrics: KEYLEDGER_METRICS_TOKEN is not set; this path is'))
    const shown = /^Bearer +(\S+)$/i.exec(headers.authorization ?? '')?.[1] ?? ''
    if (sameDigest(expected, sha256(shown))) return done()
    done(
      new Problem(401, 'unauthorized', 'send the metrics token: Authorization: Bearer <token>', {
        'www-authenticate': 'Bearer',
      }),
    )
  }
}
