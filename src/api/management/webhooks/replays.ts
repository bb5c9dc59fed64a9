import { z } from 'zod'
import {
  countReplayed,
  findReplay,
  listReplays,
  type ReplayedDeliveries,
} from '../../../../projections/replays.ts'
import { changeReplay, requestReplay } from '../../../commands/replays.ts'
import { idOfMade } from '../../../credentials/id.ts'
import { Refusal } from '../../../domain/refusal.ts'
import { ReplayOnly } from '../../../domain/replays/events.ts'
import type { KnownReplay } from '../../../domain/replays/replay.ts'
import { WebhookEventName } from '../../../domain/webhooks/events.ts'
import { callerIn } from '../../../http/authenticate.ts'
import type { Cursors } from '../../../http/cursor.ts'
import { runOriginOf } from '../../../http/idempotency.ts'
import { answer, errors, inUtc, momentIn, momentOut, pageOf, pageQuery, text } from '../../../http/schemas.ts'
import type { ZodApp } from '../../../http/validation.ts'
import type { Ports } from '../../../ports.ts'
import { answerPage } from '../page.ts'

type ReplayPorts = Ports<'db' | 'execute' | 'now'>

const path = '/v1/webhook/replays'

const replayIn = z
  .strictObject({
    from: momentIn.meta({ description: 'The first moment of the range, by the time of the event' }),
    to: momentIn.optional().meta({ description: 'The moment after the range; now when absent' }),
    events: z
      .array(WebhookEventName)
      .min(1)
      .max(100)
      .optional()
      .meta({ description: 'Only these, of those that the endpoint wants' }),
    endpoint: text(100).optional().meta({
      description: 'The id of a webhook endpoint; needed when there is more than one',
      example: 'first',
    }),
    only: ReplayOnly.default('failed').meta({
      description:
        '`failed`: deliveries that were abandoned. `all`: every event of the range, also what was delivered, and what ' +
        'the endpoint did not get since it was added or wanted the event later',
    }),
  })
  .refine(({ from, to }) => to === undefined || Date.parse(from) < Date.parse(to), {
    path: ['to'],
    message: 'must be after from',
  })
  .meta({ example: { from: '2026-11-21T00:00:00.000Z', to: '2026-11-22T00:00:00.000Z', only: 'failed' } })

const replayOut = z
  .object({
    id: z.string().meta({ description: 'The id of the replay', example: 'whr_06f5w3k8hx7vq2m4n9t1r0s5zc' }),
    status: z
      .enum(['running', 'paused', 'finished', 'canceled'])
      .meta({ description: 'How far it is', example: 'running' }),
    endpointId: z.string(),
    from: momentOut.meta({
      description: 'The first moment of the range, by the time of the event',
      example: '2026-11-21T00:00:00.000Z',
    }),
    to: momentOut.meta({ description: 'The moment after the range', example: '2026-11-22T00:00:00.000Z' }),
    events: z.array(WebhookEventName).meta({
      description: 'The events that are replayed',
      example: ['license.created', 'license.revoked'],
    }),
    only: ReplayOnly.meta({
      description: '`failed`: only deliveries that were abandoned. `all`: every event of the range',
      example: 'failed',
    }),
    progress: z
      .object({
        total: z.int().meta({
          description: 'How many deliveries were in the range when it was requested',
          example: 40,
        }),
        started: z.int().meta({ description: 'How many were made due again so far', example: 24 }),
        delivered: z.int().meta({ description: 'Of those made due again, how many arrived', example: 21 }),
        pending: z
          .int()
          .meta({ description: 'Of those made due again, how many wait or are tried again', example: 2 }),
        failed: z.int().meta({ description: 'Of those made due again, how many were abandoned', example: 1 }),
      })
      .meta({ description: 'How many deliveries are in which state' }),
    canceledFor: z.enum(['requested', 'endpoint_removed']).nullable().meta({
      description: 'Why it was canceled; null unless it was',
      example: null,
    }),
    createdAt: momentOut,
    endedAt: momentOut.nullable().meta({
      description: 'When it was finished or canceled; null while it runs or is paused',
      example: null,
    }),
  })
  .meta({ id: 'WebhookReplay', description: 'A request to deliver the events of a range again' })
const oneReplay = z.object({ replay: replayOut })
const params = z.strictObject({ id: z.string() })

/** Replays of webhook deliveries by a range of time. */
export function webhookReplayRoutes(app: ZodApp, ports: ReplayPorts, cursors: Cursors): void {
  requestRoute(app, ports)
  readRoutes(app, ports, cursors)
  for (const what of ['pause', 'resume', 'cancel'] as const) changeRoute(app, ports, what)
}

function requestRoute(app: ZodApp, ports: ReplayPorts): void {
  app.post(
    path,
    {
      config: { scope: 'integrations:write', dryRun: true },
      schema: {
        operationId: 'createWebhookReplay',
        tags: ['Webhook'],
        summary: 'Deliver the events of a range again',
        description:
          'The events keep their ids, so that a receiver can drop duplicates. A replay starts more deliveries only while ' +
          'fewer than 16 to the endpoint are pending, so that new events are not delayed. A `license.created` whose key is ' +
          'no longer stored is sent with `key: null`.',
        body: replayIn,
        response: { 202: answer('The replay, which is running', oneReplay), ...errors(400, 403, 404, 422) },
      },
    },
    async (request, reply) => {
      const { tenantId } = callerIn(request)
      const { from, to, events, endpoint: endpointId, only } = request.body
      const input = { from: inUtc(from), to: to && inUtc(to), events, endpointId, only }
      const origin = runOriginOf(request)
      // Requests with one Idempotency-Key share this id.
      const replayId = idOfMade('whr', origin.correlationId ?? request.id)
      const replay = await requestReplay(ports, tenantId, input, replayId, origin)
      void reply.code(202)
      return { replay: await view(ports, replay) }
    },
  )
}

function readRoutes(app: ZodApp, ports: Ports<'db'>, cursors: Cursors): void {
  app.get(
    path,
    {
      config: { scope: 'integrations:read' },
      schema: {
        operationId: 'listWebhookReplays',
        tags: ['Webhook'],
        summary: 'List replays with their progress, newest first',
        description: 'Those of all endpoints, finished and canceled ones included.',
        querystring: z.strictObject(pageQuery),
        response: { 200: answer('A page of replays', pageOf(replayOut)), ...errors(400, 403) },
      },
    },
    async (request) => {
      const { tenantId } = callerIn(request)
      return answerPage(
        cursors,
        [tenantId, 'replays'],
        request.query,
        (keyset) => listReplays(ports.db, tenantId, keyset),
        (replays) => views(ports, replays),
      )
    },
  )
  app.get(
    `${path}/:id`,
    {
      config: { scope: 'integrations:read' },
      schema: {
        operationId: 'getWebhookReplay',
        tags: ['Webhook'],
        summary: 'Read a replay and its progress',
        description: 'Poll it to follow a replay that runs.',
        params,
        response: { 200: answer('The replay', oneReplay), ...errors(400, 403, 404) },
      },
    },
    async (request) => {
      const replay = await findReplay(ports.db, callerIn(request).tenantId, request.params.id)
      if (!replay) throw new Refusal('webhook_replay_not_found')
      return { replay: await view(ports, replay) }
    },
  )
}

const words = {
  pause: {
    summary: 'Pause a replay; what it made due again is still delivered',
    description: 'It makes no further delivery due until it is resumed. One that has ended gets 409.',
  },
  resume: {
    summary: 'Resume a paused replay',
    description: 'It goes on with the next delivery of its range. One that has ended gets 409.',
  },
  cancel: {
    summary: 'Cancel a replay; what it made due again is still delivered',
    description:
      'It makes no further delivery due, for good. Request another replay for the rest of the range.',
  },
}

const after = {
  pause: { replay: { status: 'paused' } },
  resume: { replay: { status: 'running' } },
  cancel: {
    replay: { status: 'canceled', canceledFor: 'requested', endedAt: '2026-11-24T14:05:12.000Z' },
  },
}

function changeRoute(app: ZodApp, ports: ReplayPorts, what: keyof typeof words): void {
  app.post(
    `${path}/:id/${what}`,
    {
      config: { scope: 'integrations:write', dryRun: true },
      schema: {
        operationId: `${what}WebhookReplay`,
        tags: ['Webhook'],
        ...words[what],
        params,
        response: { 200: answer('The replay', oneReplay, after[what]), ...errors(400, 403, 404, 409) },
      },
    },
    async (request) => {
      const { tenantId } = callerIn(request)
      const replay = await changeReplay(ports, tenantId, request.params.id, what, runOriginOf(request))
      return { replay: await view(ports, replay) }
    },
  )
}

async function views(ports: Ports<'db'>, replays: readonly KnownReplay[]) {
  const counts = await countReplayed(
    ports.db,
    replays.map(({ replayId }) => replayId),
  )
  return replays.map((replay) => viewOf(replay, counts.get(replay.replayId)))
}

const view = async (ports: Ports<'db'>, replay: KnownReplay): Promise<z.infer<typeof replayOut>> =>
  viewOf(replay, (await countReplayed(ports.db, [replay.replayId])).get(replay.replayId))

const none: ReplayedDeliveries = { delivered: 0, pending: 0, failed: 0 }

function viewOf(replay: KnownReplay, counts = none): z.infer<typeof replayOut> {
  const { replayId: id, status, endpointId, from, to, events, only, total, done, canceledFor } = replay
  return {
    id,
    status,
    endpointId,
    from,
    to,
    events: [...events],
    only,
    progress: { total, started: done, ...counts },
    canceledFor,
    createdAt: replay.requestedAt,
    endedAt: replay.endedAt,
  }
}
