import type { WebhookEndpoint } from '../../domain/webhooks/endpoint.ts'
import type { Ordering } from '../../domain/webhooks/events.ts'

/** What people call an endpoint: its description, or its address. */
export const nameOfEndpoint = ({ description, url }: WebhookEndpoint): string =>
  description === '' ? url : description

export const orderingNames: Record<Ordering, string> = {
  license: 'In order for each license',
  none: 'As fast as possible',
}
