import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { noDeliveries, readEndpointHealth } from '../../../projections/deliveries/health.ts'
import { countReplayed, listReplays } from '../../../projections/replays.ts'
import { findWebhookEndpoint, listEndpoints } from '../../../projections/webhooks.ts'
import { changeEndpoint, type EndpointSet } from '../../commands/webhook-endpoints.ts'
import { newId } from '../../credentials/id.ts'
import { maxEndpoints, type WebhookEndpoint } from '../../domain/webhooks/endpoint.ts'
import { defaultEvents, defaultOrdering } from '../../domain/webhooks/events.ts'
import type { GatedOperation } from '../../gate/operation.ts'
import {
  addWebhookEndpoint,
  changeWebhookEndpoint,
  deleteWebhookEndpoint,
  rotateWebhookSecret,
} from '../../gate/operations/webhook-endpoints.ts'
import { notFound } from '../../http/problem.ts'
import type { Ports } from '../../ports.ts'
import { type FilledForm, newForm, readForm } from '../forms/filled-form.ts'
import { formOf } from '../forms/forms.ts'
import { refusedForm } from '../forms/refused.ts'
import { pageRoute } from '../frame/page-route.ts'
import type { PageContext } from '../page-context.ts'
import { originOfMember, principalOf } from '../session/principal.ts'
import { redirectWith } from '../session/redirect-with.ts'
import { endpointFormView, endpointView, secretView, testAnswerView } from './endpoint-view.ts'
import { EndpointForm, fieldOf, OperationForm, PauseForm, TestForm } from './form.ts'
import { replayPages } from './replay-route.ts'
import { webhooksView } from './view.ts'

const manage = pageRoute({ page: 'manage_connections' })
const manageForm = pageRoute({ page: 'manage_connections', proof: 'send' })

const path = '/dashboard/webhooks'
const weekMs = 7 * 86_400_000
const shownReplays = 10

type OneRequest = FastifyRequest<{ Params: { id: string } }>

/** The webhook endpoints of a workspace, and replays of their deliveries. */
export function webhookPages(app: FastifyInstance, context: PageContext): void {
  listPage(app, context)
  addForm(app, context)
  changeForm(app, context)
  quickForms(app, context)
  secretForms(app, context)
  replayPages(app, context)
  // The address that it had when there was only one.
  app.get('/settings/webhook', pageRoute({ page: 'integrations:read' }), (_request, reply) =>
    reply.redirect(path, 303),
  )
}

function listPage(app: FastifyInstance, { ports, show }: PageContext): void {
  app.get('/webhooks', pageRoute({ page: 'integrations:read' }), async (request, reply) => {
    const { tenantId } = principalOf(request)
    const endpoints = await listEndpoints(ports.db, tenantId)
    const health = await readEndpointHealth(
      ports.db,
      tenantId,
      endpoints.map(({ endpointId }) => endpointId),
      new Date(ports.now().getTime() - weekMs).toISOString(),
    )
    const { items } = await listReplays(ports.db, tenantId, { after: undefined, limit: shownReplays })
    const counts = await countReplayed(
      ports.db,
      items.map(({ replayId }) => replayId),
    )
    return show(reply, {
      title: 'Webhooks',
      nav: 'webhooks',
      content: (view) =>
        webhooksView(view, {
          endpoints: endpoints.map((endpoint) => ({
            endpoint,
            health: health.get(endpoint.endpointId) ?? noDeliveries,
          })),
          replays: items.map((replay) => ({ replay, counts: counts.get(replay.replayId) })),
          isFull: endpoints.length >= maxEndpoints,
        }),
    })
  })
}

/** @throws Problem 404 */
async function endpointOf(ports: Ports<'db'>, request: OneRequest): Promise<WebhookEndpoint> {
  const { endpoint } = await findWebhookEndpoint(ports.db, principalOf(request).tenantId, request.params.id)
  if (!endpoint) throw notFound('webhook endpoint')
  return endpoint
}

/** Executes an operation with the same rules as an approved API request: the member has just confirmed who they are. */
async function runOperation<Result>(
  { ports }: PageContext,
  request: FastifyRequest,
  gated: GatedOperation<Result>,
  id: string,
  { parameters = {}, body = null }: { parameters?: Record<string, string>; body?: object | null },
): Promise<Result> {
  const { tenantId } = principalOf(request)
  const input = { parameters, query: {}, body }
  await gated.check(ports, tenantId, input)
  return gated.run(ports, tenantId, input, { id, origin: originOfMember(request) })
}

/** Shows a secret if there is a new one; otherwise leads back to the list. */
function shown(
  { show }: PageContext,
  reply: FastifyReply,
  { endpoint, secret }: EndpointSet,
  text: string,
): FastifyReply {
  if (secret === undefined) return redirectWith(reply, path, text)
  return show(reply, {
    title: 'Signing secret',
    nav: 'webhooks',
    content: () => secretView(endpoint.url, secret),
  })
}

function addForm(app: FastifyInstance, context: PageContext): void {
  const form = (reply: FastifyReply, filled: FilledForm) =>
    context.show(reply, {
      title: 'Add endpoint',
      nav: 'webhooks',
      content: (view) => endpointFormView(view, filled, { action: path, operation: newId('req') }),
      form: filled,
    })

  app.get('/webhooks/new', manage, async (_request, reply) =>
    form(reply, newForm({ ordering: defaultOrdering, events: defaultEvents })),
  )

  app.post('/webhooks', manageForm, async (request, reply) => {
    const { filled, data } = readForm(EndpointForm, request)
    if (!data) return form(reply, filled)
    const { operation, ...body } = data
    try {
      const set = await runOperation(context, request, addWebhookEndpoint, operation, { body })
      return shown(context, reply, set, 'Endpoint added.')
    } catch (error) {
      return form(reply, refusedForm(error, filled, fieldOf))
    }
  })
}

function changeForm(app: FastifyInstance, context: PageContext): void {
  const form = (reply: FastifyReply, endpoint: WebhookEndpoint, filled: FilledForm) =>
    context.show(reply, {
      title: 'Webhook endpoint',
      nav: 'webhooks',
      content: (view) => endpointView(view, endpoint, filled, newId('req')),
      form: filled,
    })

  app.get('/webhooks/:id', manage, async (request: OneRequest, reply) => {
    const endpoint = await endpointOf(context.ports, request)
    const { url, description, ordering, events } = endpoint
    return form(reply, endpoint, newForm({ url, description, ordering, events }))
  })

  app.post('/webhooks/:id', manageForm, async (request: OneRequest, reply) => {
    const endpoint = await endpointOf(context.ports, request)
    const { filled, data } = readForm(EndpointForm, request)
    if (!data) return form(reply, endpoint, filled)
    const { operation, ...body } = data
    try {
      const input = { parameters: { id: endpoint.endpointId }, body }
      const set = await runOperation(context, request, changeWebhookEndpoint, operation, input)
      return shown(context, reply, set, 'Endpoint saved.')
    } catch (error) {
      return form(reply, endpoint, refusedForm(error, filled, fieldOf))
    }
  })
}

/** What needs no new proof of identity: pausing, resuming and testing. */
function quickForms(app: FastifyInstance, { ports, show }: PageContext): void {
  app.post('/webhooks/:id/pause', manage, async (request: OneRequest, reply) => {
    const { endpointId } = await endpointOf(ports, request)
    const paused = formOf(PauseForm, request).paused === 'yes'
    const { tenantId } = principalOf(request)
    await changeEndpoint(ports, tenantId, endpointId, { paused }, newId('req'), originOfMember(request))
    return redirectWith(reply, path, paused ? 'Endpoint paused. Its deliveries wait.' : 'Endpoint resumed.')
  })

  app.post('/webhooks/:id/test', manage, async (request: OneRequest, reply) => {
    const endpoint = await endpointOf(ports, request)
    const { event = endpoint.events[0] ?? 'license.created' } = formOf(TestForm, request)
    const answer = await ports.sendTestEvent(principalOf(request).tenantId, endpoint, event)
    return show(reply, {
      title: 'Test event',
      nav: 'webhooks',
      content: (view) => testAnswerView(view, endpoint, answer),
    })
  })
}

function secretForms(app: FastifyInstance, context: PageContext): void {
  app.post('/webhooks/:id/rotate-secret', manageForm, async (request: OneRequest, reply) => {
    const { endpointId: id } = await endpointOf(context.ports, request)
    const { operation } = formOf(OperationForm, request)
    const set = await runOperation(context, request, rotateWebhookSecret, operation, { parameters: { id } })
    return shown(context, reply, set, 'The signing secret was already rotated.')
  })

  app.post('/webhooks/:id/delete', manageForm, async (request: OneRequest, reply) => {
    const { endpointId: id } = await endpointOf(context.ports, request)
    const { operation } = formOf(OperationForm, request)
    await runOperation(context, request, deleteWebhookEndpoint, operation, { parameters: { id } })
    return redirectWith(reply, path, 'Endpoint deleted.')
  })
}
