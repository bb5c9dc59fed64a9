import type { FastifyInstance, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { type DeliveryFilter, findDelivery, listDeliveries } from '../../../projections/deliveries/queries.ts'
import { findWebhookEndpoint, listEndpoints } from '../../../projections/webhooks.ts'
import { askRedelivery, findWaitedFor } from '../../commands/deliveries.ts'
import { isId } from '../../credentials/id.ts'
import type { KnownDelivery } from '../../domain/deliveries/delivery.ts'
import { Channel, DeliveryEventName } from '../../domain/deliveries/events.ts'
import { may } from '../../domain/members/roles.ts'
import { notFound } from '../../http/problem.ts'
import type { Ports } from '../../ports.ts'
import { shownPayload } from '../../webhooks/public-events.ts'
import { pageRoute } from '../frame/page-route.ts'
import { one, oneCustomer } from '../lists/lists.ts'
import type { PageContext } from '../page-context.ts'
import { auditedPage, originOfMember, principalOf } from '../session/principal.ts'
import { redirectWith } from '../session/redirect-with.ts'
import { nameOfEndpoint } from '../webhooks/form.ts'
import { deliveriesView, deliveryView } from './view.ts'

const manage = pageRoute({ page: 'manage_connections' })

const pageSize = 50

type OneRequest = FastifyRequest<{ Params: { id: string } }>

const Status = z.enum(['pending', 'delivered', 'abandoned'])
const Query = z.object({
  cursor: one,
  status: one,
  channel: one,
  event: one,
  endpoint: one,
  customer: oneCustomer,
})

/** Deliveries: to the webhook, and to customers by mail. */
export function deliveryPages(app: FastifyInstance, context: PageContext): void {
  listPage(app, context)
  onePage(app, context)
  redeliverForm(app, context)
}

/** @throws Problem 404 */
async function deliveryOf(ports: Ports<'db'>, request: OneRequest): Promise<KnownDelivery> {
  const { id } = request.params
  const { tenantId } = principalOf(request)
  const entry = isId('whd', id) ? await findDelivery(ports.db, tenantId, id) : undefined
  if (!entry) throw notFound('delivery')
  return entry.delivery
}

function filterFrom({
  status,
  channel,
  event,
  endpoint,
  customer,
}: Omit<z.infer<typeof Query>, 'cursor'>): DeliveryFilter {
  return {
    status: Status.safeParse(status).data,
    channel: Channel.safeParse(channel).data,
    event: DeliveryEventName.safeParse(event).data,
    endpointId: endpoint,
    customerId: customer,
  }
}

function listPage(app: FastifyInstance, { ports, cursors, show }: PageContext): void {
  app.get('/deliveries', auditedPage('integrations:read', 'deliveries', Query), async (request, reply) => {
    const { tenantId } = principalOf(request)
    const { cursor, ...given } = Query.parse(request.query)
    const filter = filterFrom(given)
    const { status, channel, event, endpointId, customerId } = filter
    const endpoints = await listEndpoints(ports.db, tenantId)
    const names = new Map(endpoints.map((endpoint) => [endpoint.endpointId, nameOfEndpoint(endpoint)]))
    const boundTo = [tenantId, 'dashboard deliveries', status, channel, event, endpointId, customerId]
    const keyset = { after: cursors.read(boundTo, cursor), limit: pageSize }
    const { items: deliveries, next } = await listDeliveries(ports.db, tenantId, filter, keyset)
    const waitedFor = await findWaitedFor(ports, deliveries)
    return show(reply, {
      title: 'Deliveries',
      nav: 'deliveries',
      content: (view) =>
        deliveriesView(view, {
          deliveries,
          waitedFor,
          filter: { status, channel, event, endpoint: endpointId, customer: customerId },
          names,
          cursor,
          next: cursors.write(boundTo, next),
        }),
    })
  })
}

function onePage(app: FastifyInstance, { ports, show }: PageContext): void {
  app.get(
    '/deliveries/:id',
    auditedPage('integrations:read', 'delivery'),
    async (request: OneRequest, reply) => {
      const { tenantId, role } = principalOf(request)
      const delivery = await deliveryOf(ports, request)
      const { endpoint } = await findWebhookEndpoint(ports.db, tenantId, delivery.endpointId ?? '')
      const payload = delivery.channel === 'webhook' ? await shownPayload(ports, delivery) : undefined
      const waitsFor = (await findWaitedFor(ports, [delivery])).get(delivery.deliveryId)
      return show(reply, {
        title: delivery.event,
        nav: 'deliveries',
        content: (view) =>
          deliveryView(view, {
            delivery,
            waitsFor,
            payload,
            endpoint,
            hasMailbox: ports.mailing.mailbox !== undefined && may(role, 'manage_settings'),
            mayRedeliver: may(role, 'manage_connections'),
          }),
      })
    },
  )
}

function redeliverForm(app: FastifyInstance, { ports }: PageContext): void {
  app.post('/deliveries/:id/redeliver', manage, async (request: OneRequest, reply) => {
    const { deliveryId, tenantId } = await deliveryOf(ports, request)
    await askRedelivery(ports, tenantId, deliveryId, originOfMember(request))
    return redirectWith(reply, `/dashboard/deliveries/${deliveryId}`, 'Redelivery started.')
  })
}
