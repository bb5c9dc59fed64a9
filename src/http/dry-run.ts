import type { FastifyInstance, FastifyReply, RouteOptions } from 'fastify'
import { z } from 'zod'
import type { RefusalCode } from '../domain/refusal.ts'
import { Effect, type Fact, type Preview, previewOf } from '../gate/effects/effect.ts'
import { effectOf } from '../gate/effects/effect-of.ts'
import { recordedFacts } from '../gate/effects/recorded.ts'
import { NotRehearsable, type RehearsablePorts, rehearsed } from '../gate/effects/rehearsable.ts'
import { effectWords } from '../gate/effects/sentences.ts'
import type { Ports } from '../ports.ts'
import { callerIn } from './authenticate.ts'
import { invalid, problemOfRefusal } from './problem.ts'
import { onlyReads } from './query.ts'

/**
 * The type of an answer to a dry run. It is not that of the operation itself, so that clients made from the description
 * keep the type of the operation's answer.
 */
const effectType = 'application/vnd.keyledger.effect+json'

/** The query parameter that asks for a dry run. */
export const dryRunQuery = {
  dryRun: z
    .enum(['true', 'false'])
    .optional()
    .meta({ description: '`true` answers what would change, and changes nothing' }),
}

/** Whether a validated query asks for a dry run. */
export const isDryRun = (query: unknown): boolean =>
  z.looseObject({ dryRun: z.literal('true') }).safeParse(query).success

/** What would change now. */
export const previewOut = {
  wouldBeRefused: z
    .object({
      status: z.int().meta({ description: 'The HTTP status of the refusal', example: 409 }),
      error: z
        .string()
        .meta({ description: 'What the refusal would say', example: 'the license is revoked' }),
      code: z
        .string()
        .meta({ description: 'The stable code, as in `Error-Code`', example: 'license_revoked' }),
    })
    .nullable()
    .meta({
      description: 'What the call would be refused with now; null when it would be executed',
      example: null,
    }),
  effect: Effect,
  sentences: z.array(z.string()).meta({
    description: 'The effect in words; empty when nothing would change',
    example: ['License ACME…HJ6C goes from active to suspended', '1 device loses its seat: “MacBook”'],
  }),
}

const dryRunOut = z
  .object({
    dryRun: z.literal(true).meta({ description: 'Always true: nothing was changed' }),
    ...previewOut,
  })
  .meta({ id: 'DryRun', description: 'What a call would change. Nothing was changed' })

type Described = { description?: string; content?: Record<string, object> }

/**
 * The responses of an operation with the answer to a dry run among them. It is 200, also where the call itself has another
 * status; the call's own answer is described beside it, so that clients made from the description have one type for it.
 */
export function withDryRun(responses: Record<string, object>): Record<string, object> {
  const success = Object.keys(responses).find((status) => status.startsWith('2')) ?? '200'
  const own: Described = responses[success] ?? {}
  const description =
    success === '200'
      ? `${own.description ?? 'Done'}. With \`dryRun=true\`: what would change`
      : `Only with \`dryRun=true\`: what would change. The call itself answers ${success}`
  const content = { ...own.content, [effectType]: { schema: dryRunOut } }
  return { ...responses, 200: { ...own, description, content } }
}

type WouldBeRefused = z.infer<typeof previewOut.wouldBeRefused>

/** How a call is refused now, for a preview of it. */
export function wouldBeRefused(refusal: RefusalCode | null): WouldBeRefused {
  if (refusal === null) return null
  const { status, message, errorCode } = problemOfRefusal(refusal)
  return { status, error: message, code: errorCode }
}

/** Answers a dry run. @throws Problem 404 for a call about something that does not exist, as the call itself */
export function sendDryRun(reply: FastifyReply, { effect, refusal }: Preview): FastifyReply {
  const refused = wouldBeRefused(refusal)
  if (refusal !== null && refused?.status === 404) throw problemOfRefusal(refusal)
  const sentences = effectWords(effect)
  return reply.code(200).type(effectType).send({ dryRun: true, wouldBeRefused: refused, effect, sentences })
}

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
