import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { listEndpoints } from '../../../projections/webhooks.ts'
import { changeReplay, requestReplay } from '../../commands/replays.ts'
import { idOfMade, isId, newId } from '../../credentials/id.ts'
import { WebhookEventName } from '../../domain/webhooks/events.ts'
import { notFound } from '../../http/problem.ts'
import { type FilledForm, newForm, readForm } from '../forms/filled-form.ts'
import { refusedForm } from '../forms/refused.ts'
import { pageRoute } from '../frame/page-route.ts'
import type { PageContext } from '../page-context.ts'
import { originOfMember, principalOf } from '../session/principal.ts'
import { redirectWith } from '../session/redirect-with.ts'
import { ReplayForm } from './form.ts'
import { replayFormView } from './replay-view.ts'

const manage = pageRoute({ page: 'manage_connections' })

const path = '/dashboard/webhooks'
const dayMs = 86_400_000

type OneRequest = FastifyRequest<{ Params: { id: string } }>

const notices = {
  pause: 'Replay paused.',
  resume: 'Replay resumed.',
  cancel: 'Replay canceled. Deliveries that it started are still made.',
}

/** The form of a replay, and the buttons of a running one. */
export function replayPages(app: FastifyInstance, { ports, show }: PageContext): void {
  const form = async (request: FastifyRequest, reply: FastifyReply, filled: FilledForm) => {
    const endpoints = await listEndpoints(ports.db, principalOf(request).tenantId)
    return show(reply, {
      title: 'Replay events',
      nav: 'webhooks',
      content: (view) => replayFormView(view, filled, endpoints, newId('req')),
      form: filled,
    })
  }

  app.get('/webhooks/replays/new', manage, (request, reply) => {
    const from = new Date(ports.now().getTime() - dayMs).toISOString().slice(0, 16)
    return form(request, reply, newForm({ from, only: 'failed', events: WebhookEventName.options }))
  })

  app.post('/webhooks/replays', manage, async (request, reply) => {
    const { filled, data } = readForm(ReplayForm, request)
    if (!data) return form(request, reply, filled)
    const { operation, endpoint: endpointId, from, to, only, events } = data
    const { tenantId } = principalOf(request)
    const input = { from, to, only, events, endpointId }
    const replayId = idOfMade('whr', operation)
    try {
      await requestReplay(ports, tenantId, input, replayId, originOfMember(request))
    } catch (error) {
      const refusals = {
        webhook_endpoint_not_found: ['endpoint', 'Choose an endpoint.'],
        webhook_replay_in_the_future: ['from', 'Choose a moment in the past.'],
      } as const
      return form(request, reply, refusedForm(error, filled, refusals))
    }
    return redirectWith(reply, path, 'Replay started.')
  })

  for (const what of ['pause', 'resume', 'cancel'] as const) {
    app.post(`/webhooks/replays/:id/${what}`, manage, async (request: OneRequest, reply) => {
      const { tenantId } = principalOf(request)
      const { id } = request.params
      if (!isId('whr', id)) throw notFound('replay')
      await changeReplay(ports, tenantId, id, what, originOfMember(request))
      return redirectWith(reply, path, notices[what])
    })
  }
}
