import { collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import { z } from 'zod'
import { countSharedMachines } from '../../../projections/trials/queries.ts'
import type { Services } from '../../commands/services.ts'
import type { ZodApp } from '../zod-app.ts'
import type { Readiness } from './health.ts'

/** Prometheus metrics of this process: requests by route and status, and how far the read models are behind. */
export function metricsRoutes(
  app: ZodApp,
  readinessOf: () => Promise<Readiness>,
  { db }: Pick<Services, 'db'>,
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
      schema: {
        operationId: 'metrics',
        tags: ['System'],
        summary: 'Prometheus metrics',
        security: [],
        response: { 200: { description: 'Text', content: { 'text/plain': { schema: z.string() } } } },
      },
    },
    async (_request, reply) => {
      const { projection, parts } = await readinessOf()
      lag.set(projection.lag_events)
      parked.set(projection.parked)
      // Metrics are wanted most when a store does not answer.
      if (parts.postgres?.ok) sharedMachines.set(await countSharedMachines(db))
      return reply.type(registry.contentType).send(await registry.metrics())
    },
  )
}
