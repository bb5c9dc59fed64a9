import { collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import { z } from 'zod'
import { overdueMs } from '../../../projections/licenses/open-ends.ts'
import { countSharedMachines } from '../../../projections/trials/queries.ts'
import { momentOf, type Services } from '../../commands/services.ts'
import type { ZodApp } from '../zod-app.ts'
import type { Readiness } from './health.ts'

/** Prometheus metrics of this process: requests by route and status, and how far what follows the log is behind. */
export function metricsRoutes(
  app: ZodApp,
  readinessOf: () => Promise<Readiness>,
  services: Pick<Services, 'db' | 'now'>,
): void {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })
  const duration = new Histogram({
    name: 'keyledger_request_duration_seconds',
    help: 'From the request line to the last byte of the answer',
    labelNames: ['method', 'route', 'status'],
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5],
    registers: [registry],
  })
  const lag = new Gauge({
    name: 'keyledger_projection_lag_events',
    help: 'Events not yet in the read models, counted up to 1,000',
    registers: [registry],
  })
  const parked = new Gauge({
    name: 'keyledger_projection_parked_streams',
    help: 'Streams set aside because an event of theirs cannot be applied',
    registers: [registry],
  })
  const overdue = new Gauge({
    name: 'keyledger_expiry_overdue_seconds',
    help: 'How long the oldest end of a license has been waiting to be recorded',
    registers: [registry],
  })
  const sharedMachines = new Gauge({
    name: 'keyledger_trial_shared_machines',
    help: 'Machines behind more installs than one machine has, whose trials count against nobody',
    registers: [registry],
  })

  app.addHook('onResponse', (request, reply, done) => {
    const route = request.routeOptions.url ?? 'unknown'
    duration.observe({ method: request.method, route, status: reply.statusCode }, reply.elapsedTime / 1000)
    done()
  })

  app.get(
    '/metrics',
    {
      config: { probe: true },
      schema: {
        operationId: 'metrics',
        tags: ['System'],
        summary: 'Prometheus metrics',
        security: [],
        response: { 200: { description: 'Text', content: { 'text/plain': { schema: z.string() } } } },
      },
    },
    async (_request, reply) => {
      const [{ projection }, waitedMs, machines] = await Promise.all([
        readinessOf(),
        // Without the database the others are told all the same, and these as they were.
        overdueMs(services.db, momentOf(services)).catch(() => undefined),
        countSharedMachines(services.db).catch(() => undefined),
      ])
      if (machines !== undefined) sharedMachines.set(machines)
      if (waitedMs !== undefined) overdue.set(waitedMs / 1000)
      lag.set(projection.lag_events)
      parked.set(projection.parked)
      return reply.type(registry.contentType).send(await registry.metrics())
    },
  )
}
