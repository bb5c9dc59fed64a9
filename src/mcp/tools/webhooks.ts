import { z } from 'zod'
import { licenseId, page } from '../arguments.ts'
import { pathTo } from '../path.ts'
import { tool } from '../tool.ts'

const deliveryId = z.string().min(1).max(100).describe('The id of a delivery')
const delivery = (id: string, action = ''): string => pathTo`/v1/webhook/deliveries/${id}` + action

/** Deliveries of webhooks. */
export const webhookTools = [
  tool({
    name: 'list_deliveries',
    title: 'List webhook deliveries',
    description:
      'Returns deliveries with every attempt and what the endpoint answered, newest first. Use it when a server of the ' +
      'vendor missed an event; `abandoned` ones have used up their attempts.',
    effect: 'reads',
    input: {
      status: z.enum(['pending', 'delivered', 'abandoned']).optional(),
      licenseId: licenseId.optional(),
      ...page,
    },
    request: ({ licenseId: license, ...query }) => ({
      method: 'GET',
      path: '/v1/webhook/deliveries',
      query: { license, ...query },
    }),
  }),
  tool({
    name: 'get_delivery',
    title: 'Read a webhook delivery',
    description: 'Returns a delivery with its payload and attempts.',
    effect: 'reads',
    input: { deliveryId },
    request: ({ deliveryId: id }) => ({ method: 'GET', path: delivery(id) }),
  }),
  tool({
    name: 'redeliver_webhook',
    title: 'Deliver a webhook again',
    description:
      'Sends a delivery again now, to the endpoint as it is set up now. The receiver sees the same id.',
    effect: 'changes',
    repeatable: false,
    reachesOut: true,
    input: { deliveryId },
    request: ({ deliveryId: id }) => ({ method: 'POST', path: delivery(id, '/redeliver') }),
  }),
]
