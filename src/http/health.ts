import { z } from 'zod'
import { answer } from './schemas.ts'
import type { ZodApp } from './zod-app.ts'

/** Requests are served without a part that is not `required`, such as the dispatcher's feed. */
export type PartHealth = { ok: boolean; required: boolean; detail?: string | undefined }
export type Readiness = {
  parts: Record<string, PartHealth>
  projection: { lag_events: number; parked: number }
}

const part = z.object({ ok: z.boolean(), required: z.boolean(), detail: z.string().optional() })

const readiness = z.object({
  ready: z.boolean(),
  parts: z.record(z.string(), part),
  projection: z.object({
    lag_events: z.int().meta({ description: 'Events not yet in the read models, counted up to 1,000' }),
    parked: z.int().meta({
      description:
        'Parked streams, counted up to 1,000; they do not affect readiness. See `keyledger projections status`',
    }),
  }),
})

/** Registers the liveness and readiness probes. Readiness lists every part that the process depends on. */
export function healthRoutes(app: ZodApp, readinessOf: () => Promise<Readiness>): void {
  app.get(
    '/livez',
    {
      config: { probe: true },
      schema: {
        operationId: 'live',
        tags: ['System'],
        summary: 'Liveness: whether the process runs',
        security: [],
        response: { 200: answer('The process runs', z.object({ live: z.literal(true) })) },
      },
    },
    async () => ({ live: true as const }),
  )

  app.get(
    '/readyz',
    {
      config: { probe: true },
      schema: {
        operationId: 'ready',
        tags: ['System'],
        summary: 'Readiness: whether every part responds, and how far the read models are behind',
        security: [],
        response: {
          200: answer('Every required part responds', readiness),
          503: answer('A required part does not respond', readiness),
        },
      },
    },
    async (_request, reply) => {
      const found = await readinessOf()
      const ready = Object.values(found.parts).every(({ ok, required }) => ok || !required)
      return reply
        .code(ready ? 200 : 503)
        .headers(ready ? {} : { 'retry-after': '1' })
        .send({ ready, ...found })
    },
  )
}
