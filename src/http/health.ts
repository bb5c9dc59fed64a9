import { z } from 'zod'
import { answer } from './schemas.ts'
import type { ZodApp } from './validation.ts'

/** Requests are served without a part that is not `required`, such as the dispatcher's feed. */
export type PartHealth = { ok: boolean; required: boolean; detail?: string | undefined }
export type Readiness = {
  parts: Record<string, PartHealth>
  projection: { lag_events: number; parked: number }
}

const part = z.object({
  ok: z.boolean().meta({ description: 'Whether it responds', example: true }),
  required: z.boolean().meta({ description: 'Whether requests need it', example: true }),
  detail: z.string().optional().meta({ description: 'What is wrong; absent when nothing is' }),
})

const readiness = z.object({
  ready: z.boolean().meta({ description: 'Whether every required part responds', example: true }),
  parts: z.record(z.string(), part).meta({
    description: 'Everything that the process depends on, by name',
    example: { database: { ok: true, required: true }, eventstore: { ok: true, required: true } },
  }),
  projection: z
    .object({
      lag_events: z.int().meta({
        description: 'Events not yet in the read models, counted up to 1,000',
        example: 0,
      }),
      parked: z.int().meta({
        example: 0,
        description:
          'Parked streams, counted up to 1,000; they do not affect readiness. See `keyledger projections status`',
      }),
    })
    .meta({ description: 'How far the read models are' }),
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
        description:
          'Answers as soon as the process listens, whatever its parts do: restart it when there is no answer.',
        security: [],
        response: {
          200: answer(
            'The process runs',
            z.object({ live: z.literal(true).meta({ description: 'Always true: the process runs' }) }),
          ),
        },
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
        description: 'Send requests to the process only while the answer is 200.',
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
