import { z } from 'zod'
import { answer } from '../schemas.ts'
import type { ZodApp } from '../zod-app.ts'

/** A part that is not required may be down while requests are served, as the dispatcher's feed may. */
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
        'Streams set aside, counted up to 1,000; they keep nothing from being ready. See `keyledger projections status`',
    }),
  }),
})

/** Whether this process lives, and whether it can do its work: with each part that it depends on. */
export function healthRoutes(app: ZodApp, readinessOf: () => Promise<Readiness>): void {
  app.get(
    '/livez',
    {
      config: { probe: true },
      schema: {
        operationId: 'live',
        tags: ['System'],
        summary: 'Whether the process lives',
        security: [],
        response: { 200: answer('It lives', z.object({ live: z.literal(true) })) },
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
        summary: 'Whether every part answers, and how far the read models are behind',
        security: [],
        response: { 200: answer('It can work', readiness), 503: answer('A part does not answer', readiness) },
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
