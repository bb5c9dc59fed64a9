import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { momentOf } from '../commands/origin.ts'
import { newId } from '../credentials/id.ts'
import { secondsLeft } from '../domain/confirmations/confirmation.ts'
import type { GatedOperation, RequestInput } from '../gate/operation.ts'
import { type GatedCall, passGate, requireUsable } from '../gate/pass.ts'
import type { ApprovalPorts } from '../gate/ports.ts'
import { callerIn, originOf, requireScope } from './authenticate.ts'
import { dryRunQuery, isDryRun, sendDryRun, withDryRun } from './dry-run.ts'
import { userAgentOf } from './listening.ts'
import { invalid, Problem } from './problem.ts'
import { answer, errors } from './schemas.ts'
import type { ZodApp } from './validation.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The route runs a gated operation, and checks the confirmation header itself. */
    gated?: true
  }
}

/** The header with the id of an approved confirmation. */
const confirmationHeader = 'X-Service-Confirmation'

/** The id in the header; undefined without one. One that is sent more than once is no id. */
function confirmationIn({ headers }: FastifyRequest): string | undefined {
  const given = headers[confirmationHeader.toLowerCase()]
  return Array.isArray(given) ? given.join() : given
}

/**
 * Lets gated routes check confirmations, and refuses one on every other management route that is registered after it: no
 * confirmation is for such a call, and a caller that relies on "only once" must learn it. Runs after validation, and before an
 * Idempotency-Key is looked up.
 */
export function checkConfirmations(app: FastifyInstance): void {
  app.decorateRequest('gatedInput', undefined)
  app.addHook('onRoute', (route) => {
    const { scope, gated } = route.config ?? {}
    if (scope === undefined || scope === 'licenses:runtime' || gated) return
    route.preHandler = [refuseConfirmation, ...[route.preHandler ?? []].flat()]
    if (!route.schema) return
    route.schema = { ...route.schema, response: { 403: errors(403)[403], ...Object(route.schema.response) } }
  })
}

/** @throws Problem 403 */
function refuseConfirmation(request: FastifyRequest, _reply: unknown, done: (error?: Error) => void): void {
  done(confirmationIn(request) === undefined ? undefined : unfitting())
}

const unfitting = (): Problem =>
  new Problem(
    403,
    'forbidden',
    `this operation needs no approval, so no confirmation is for it; send it without ${confirmationHeader}; nothing was done`,
  )

declare module 'fastify' {
  interface FastifyInstance {
    /** The base of all URLs that keyledger hands out. */
    baseUrl: string
  }
  interface FastifyRequest {
    /** The input of a gated call as sent, before its schemas transform it. */
    gatedInput: RequestInput | undefined
  }
}

const pendingOut = z
  .object({
    confirmation: z
      .object({
        id: z.string().meta({
          description: 'The id to poll, and to send in `X-Service-Confirmation` once a person has approved',
          example: 'cnf_06f5w3k8hx7vq2m4n9t1r0s5zc',
        }),
        status: z
          .literal('pending')
          .meta({ description: 'Always `pending`: the request has not been decided yet' }),
        approveUrl: z.string().meta({
          description: 'The dashboard page where a person approves it',
          example: 'https://licenses.acme.example/dashboard/approvals/cnf_06f5w3k8hx7vq2m4n9t1r0s5zc',
        }),
        expiresInSeconds: z.int().meta({
          description: 'Seconds until it expires without a decision',
          example: 600,
        }),
      })
      .meta({ description: 'The confirmation that was opened' }),
  })
  .meta({ id: 'PendingConfirmation', description: 'A request that waits for the approval of a person' })

const explanation = `Without \`${confirmationHeader}\` \
nothing is executed, and the response is 202 with a confirmation to approve. Once it is approved, repeat exactly the same \
request with its id in \`${confirmationHeader}\`: it is executed once. A confirmation that is sent is always checked. An \
approval that is not used within 60 \
minutes expires; until it is used, it can be withdrawn. An \`Idempotency-Key\` is ignored: the confirmation already \
ensures that it runs once.

With \`dryRun=true\` it answers what the call would change now, with the same scopes; nothing is recorded, and no \
confirmation is opened.`

const onlySome = 'Only what is named above needs an approval; everything else is done at once.'

const forbidden =
  'The token lacks a scope, or the confirmation does not allow this request: it is pending, denied, expired or already used, ' +
  'belongs to another token, or is for a request with other parameters'

/** The responses and the description of a gated operation. */
export type GatedRoute<Result> = {
  operationId: string
  tags: [string]
  summary: string
  description?: string
  /** The operation's own responses; every gated operation also has 202, 400, 401 and 403. */
  response: Record<string, object>
  /** The operation is refused while the tenant is suspended. */
  refusedWhileSuspended?: boolean
  /** The response after execution: a body, or the reply itself when it was already sent, as streams are. */
  reply: (result: Result, context: { request: FastifyRequest; reply: FastifyReply }) => unknown
}

/**
 * Registers the route of a gated operation. The confirmation is handled here; the route only gives its response.
 */
export function gatedRoute<Result>(
  app: ZodApp,
  ports: ApprovalPorts,
  operation: GatedOperation<Result>,
  route: GatedRoute<Result>,
): void {
  const { params, query, body } = operation.parts
  // An operation that needs no other scope names this one already.
  const needs =
    operation.scope === 'danger'
      ? "Also requires a person's approval."
      : "Also requires the scope `danger` and a person's approval."
  const description = [route.description, operation.runUngated && onlySome, `${needs} ${explanation}`]
    .filter(Boolean)
    .join('\n\n')
  app.route({
    method: operation.method,
    url: operation.path.replaceAll(/\{(\w+)\}/g, ':$1'),
    // A HEAD request would use up a confirmation and return nothing.
    exposeHeadRoute: false,
    config: {
      scope: operation.runUngated ? operation.scope : [...new Set([operation.scope, 'danger'] as const)],
      gated: true,
      // A stored response would return a secret again without an approval.
      idempotencyKey: 'ignored',
      ...(route.refusedWhileSuspended && { refusedWhileSuspended: true }),
      // A streamed response has no time limit.
      ...(operation.streams && { noRequestTimeout: true }),
    },
    schema: {
      operationId: route.operationId,
      tags: route.tags,
      summary: route.summary,
      description,
      headers: z.looseObject({
        [confirmationHeader]: z
          .string()
          .optional()
          .meta({ description: 'The id of an approved confirmation' }),
      }),
      ...(params && { params }),
      querystring: query ? query.extend(dryRunQuery) : z.object(dryRunQuery),
      ...(body && { body }),
      response: {
        202: answer('Nothing was executed; a person has to approve the request first', pendingOut),
        ...errors(400, 403),
        403: { ...errors(403)[403], description: forbidden },
        ...withDryRun(route.response),
      },
    },
    preValidation: async (request) => {
      request.gatedInput = inputOf(request)
    },
    handler: async (request, reply) => {
      const call = callIn(request)
      if (isDryRun(request.query)) return rehearsed(ports, operation, call, { request, reply })
      // A call with a confirmation uses it, even if it would need none: then it too is executed once.
      if (call.confirmationId === undefined) {
        const execution = { id: newId('req'), origin: call.origin }
        const direct = await operation.runUngated?.(ports, call.tenantId, call.request, execution)
        if (direct) return route.reply(direct.result, { request, reply })
      }
      requireScope(callerIn(request), 'danger')
      const outcome = await passGate(ports, operation, call)
      if (outcome.passed) return route.reply(outcome.result, { request, reply })
      const { confirmation } = outcome
      const { confirmationId: id } = confirmation
      return reply.code(202).send({
        confirmation: {
          id,
          status: 'pending' as const,
          approveUrl: `${app.baseUrl}/dashboard/approvals/${id}`,
          expiresInSeconds: secondsLeft(confirmation, momentOf(ports)),
        },
      })
    },
  })
}

/**
 * A dry run needs the scopes of the call itself, and a confirmation that it names must allow the call.
 * @throws Problem 403, 404; Refusal of the confirmation
 */
async function rehearsed<Result>(
  ports: ApprovalPorts,
  operation: GatedOperation<Result>,
  call: GatedCall,
  { request, reply }: { request: FastifyRequest; reply: FastifyReply },
): Promise<FastifyReply> {
  const { tenantId, confirmationId, request: input } = call
  const needsNone =
    confirmationId === undefined && ((await operation.needsNoApproval?.(ports, tenantId, input)) ?? false)
  if (!needsNone) requireScope(callerIn(request), 'danger')
  const preview = await operation.preview(ports, tenantId, input)
  if (confirmationId !== undefined) await requireUsable(ports, operation, call, confirmationId)
  return sendDryRun(reply, preview)
}

function callIn(request: FastifyRequest): GatedCall {
  const { tenantId, tokenId } = callerIn(request)
  return {
    tenantId,
    tokenId,
    userAgent: userAgentOf(request),
    request: inputIn(request),
    origin: originOf(request),
    confirmationId: confirmationIn(request),
  }
}

/** @throws Problem 400 */
function inputIn({ gatedInput }: FastifyRequest): RequestInput {
  if (gatedInput === undefined) throw new Error('a gated call was not read')
  if (!isCanonical(gatedInput)) throw invalid('the request must be well-formed Unicode and not deeply nested')
  return gatedInput
}

const Parameters = z.record(z.string(), z.string())

const Query = z.looseObject({ dryRun: z.unknown().optional() })

/**
 * The input before validation, which replaces it by the output of the schemas. Whether it is a dry run is not part of it:
 * an approval is for the call itself.
 */
function inputOf({ params, query, body }: FastifyRequest): RequestInput {
  const { dryRun: _, ...rest } = Query.parse(query)
  return { parameters: Parameters.parse(params), query: rest, body: body ?? null }
}

/** Deeper than any schema. */
const deepest = 64

/** Whether a value has a canonical form by RFC 8785. Lone surrogates and numbers beyond doubles have none. */
function isCanonical(value: unknown, depth = 0): boolean {
  if (typeof value === 'string') return value.isWellFormed()
  if (typeof value === 'number') return Number.isFinite(value)
  if (typeof value !== 'object' || value === null) return true
  if (depth === deepest) return false
  return Object.entries(value).every(([key, inner]) => key.isWellFormed() && isCanonical(inner, depth + 1))
}
