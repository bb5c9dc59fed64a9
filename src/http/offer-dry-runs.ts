import type { FastifyInstance, RouteOptions } from 'fastify'
import { z } from 'zod'
import { type Fact, type Preview, previewOf } from '../gate/effects/effect.ts'
import { effectOf } from '../gate/effects/effect-of.ts'
import { recordedFacts } from '../gate/effects/recorded.ts'
import { NotRehearsable, type RehearsablePorts, rehearsed } from '../gate/effects/rehearsable.ts'
import type { Ports } from '../ports.ts'
import { callerIn } from './authenticate.ts'
import { dryRunQuery, isDryRun, sendDryRun, withDryRun } from './dry-run.ts'
import { invalid } from './problem.ts'
import { onlyReads } from './query.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /**
     * Dry runs of the route run its own handler on ports that record nothing. Its handler changes nothing but by commands.
     * A function makes facts of the handler's answer that its events do not say.
     */
    dryRun?: true | ((answer: unknown) => Fact[])
    /** Why the route offers no dry run, as the rest of a sentence after "because". Every other write that is described offers one. */
    noDryRun?: string
  }
}

const Responses = z.record(z.string(), z.custom<object>())

/** Offers a dry run on every route that says so and is registered after this. Its query has no other parameters. */
export function offerDryRuns(app: FastifyInstance, ports: RehearsablePorts & Ports<'findProduct'>): void {
  app.addHook('onRoute', (route) => {
    requireDecided(route)
    const { dryRun } = route.config ?? {}
    if (!dryRun) return
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
        let answer: unknown
        const decided = await rehearsed(ports, async () => {
          answer = await handler.call(this, request, reply)
        })
        const facts = typeof dryRun === 'function' ? dryRun(answer) : []
        return effectOf(ports, tenantId, decided, [...recordedFacts(decided), ...facts])
      }).catch(refuse)
      return sendDryRun(reply, preview)
    }
  })
}

/** @throws Error for a route that changes something and says nothing about dry runs */
function requireDecided(route: RouteOptions): void {
  const { method, url, schema, config } = route
  if (onlyReads(route) || !schema?.operationId || config?.gated || config?.dryRun || config?.noDryRun) return
  throw new Error(`${String(method)} ${url} needs dryRun or noDryRun`)
}

/** @throws Problem 400 for a call that has no dry run because of what it asks for */
function refuse(error: unknown): Preview {
  if (!(error instanceof NotRehearsable)) throw error
  throw invalid(`this call has no dry run, because ${error.message}; nothing was done`)
}
