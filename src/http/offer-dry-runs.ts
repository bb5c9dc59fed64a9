import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import { previewOf } from '../gate/effects/effect.ts'
import { effectOf } from '../gate/effects/effect-of.ts'
import { rehearsed } from '../gate/effects/rehearsable.ts'
import type { ApprovalPorts } from '../gate/ports.ts'
import type { Ports } from '../ports.ts'
import { callerIn } from './authenticate.ts'
import { dryRunQuery, isDryRun, sendDryRun, withDryRun } from './dry-run.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /**
     * Dry runs of the route run its own handler on services that record nothing. Its handler changes nothing but by commands,
     * decides at most once on each stream, and answers with a body.
     */
    dryRun?: true
  }
}

const Responses = z.record(z.string(), z.custom<object>())

/** Offers a dry run on every route that says so and is registered after this. Its query has no other parameters. */
export function offerDryRuns(
  app: FastifyInstance,
  services: ApprovalPorts & Ports<'keptKeys' | 'providers' | 'usage'>,
): void {
  app.addHook('onRoute', (route) => {
    if (!route.config?.dryRun) return
    const { handler, schema } = route
    route.schema = {
      ...schema,
      querystring: z.object(dryRunQuery),
      response: withDryRun(Responses.parse(schema?.response)),
    }
    route.handler = async function (this: FastifyInstance, request, reply) {
      if (!isDryRun(request.query)) return handler.call(this, request, reply)
      const { tenantId } = callerIn(request)
      const preview = await previewOf(async () => {
        const decided = await rehearsed(services, async () => handler.call(this, request, reply))
        const recorded = decided.map(({ category, id, events }) => ({
          what: 'recorded' as const,
          stream: `${category}-${id}`,
          events: events.map(({ type }) => type),
        }))
        return effectOf(services, tenantId, decided, recorded)
      })
      return sendDryRun(reply, preview)
    }
  })
}
