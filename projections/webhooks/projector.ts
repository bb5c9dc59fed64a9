import { webhooks } from '../../src/domain/webhooks/webhook.ts'
import { defineDocuments, evolvedBy, projectorOf } from '../document.ts'

const documents = defineDocuments(evolvedBy(webhooks), {
  table: 'webhooks',
  begun: ({ tenantId, endpoints }) => (tenantId === undefined ? undefined : { tenantId, endpoints }),
  columns: { tenantId: 'text not null unique' },
  computed: {
    // The ids of the endpoints whose deliveries wait.
    paused: [
      'text[] not null',
      ({ endpoints }) =>
        endpoints.filter(({ pausedAt }) => pausedAt !== null).map(({ endpointId }) => endpointId),
    ],
    // The ids of the endpoints that get the events of a license in order.
    ordered: [
      'text[] not null',
      ({ endpoints }) =>
        endpoints.filter(({ ordering }) => ordering === 'license').map(({ endpointId }) => endpointId),
    ],
  },
})

export const webhooksProjector = projectorOf(documents)
