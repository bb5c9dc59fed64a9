import { z } from 'zod'
import { operations } from '../../description/operations.ts'
import { licenseId, page } from '../arguments.ts'
import { tool } from '../tool.ts'

const deliveryId = z.string().min(1).max(100).describe('The id of a delivery')

/** Deliveries of webhooks. */
export const webhookTools = [
  tool({
    name: 'list_deliveries',
    operation: 'listDeliveries',
    title: 'List webhook deliveries',
    description:
      'Returns deliveries with every attempt and what the endpoint answered, newest first. Use it when a server of the ' +
      'vendor missed an event; `abandoned` ones have used up their attempts.',
    effect: 'reads',
    input: {
      status: z.enum(operations.listDeliveries.query.status.choices).optional(),
      licenseId: licenseId.optional(),
      ...page,
    },
    names: { licenseId: 'license' },
  }),
  tool({
    name: 'get_delivery',
    operation: 'getDelivery',
    title: 'Read a webhook delivery',
    description: 'Returns a delivery with its payload and attempts.',
    effect: 'reads',
    input: { deliveryId },
    names: { deliveryId: 'id' },
  }),
  tool({
    name: 'redeliver_webhook',
    operation: 'redeliver',
    title: 'Deliver a webhook again',
    description:
      'Sends a delivery again now, to the endpoint as it is set up now. The receiver sees the same id.',
    effect: 'changes',
    repeatable: false,
    reachesOut: true,
    input: { deliveryId },
    names: { deliveryId: 'id' },
  }),
]
