import { type Webhook, webhooks } from '../../src/domain/webhooks/webhook.ts'
import { applyToDocuments, type DocumentModel, evolvedBy } from '../document.ts'
import type { Projector } from '../projector.ts'

const model: DocumentModel<Webhook> = {
  table: 'webhooks',
  ...evolvedBy(webhooks),
  columns: ({ tenantId, endpoints }) => ({
    tenant_id: tenantId,
    paused: endpoints.filter(({ pausedAt }) => pausedAt !== null).map(({ endpointId }) => endpointId),
    ordered: endpoints.filter(({ ordering }) => ordering === 'license').map(({ endpointId }) => endpointId),
  }),
}

export const webhooksProjector: Projector = {
  name: 'webhooks',
  tables: ['webhooks'],
  ddl: `
    create table webhooks (
      stream text primary key,
      revision int not null,
      state jsonb not null,
      tenant_id text not null unique,
      -- The ids of the endpoints whose deliveries wait.
      paused text[] not null,
      -- The ids of the endpoints that get the events of a license in order.
      ordered text[] not null
    )`,
  apply: (db, entries) => applyToDocuments(db, model, entries),
}
