import { type Webhook, webhooks } from '../../src/domain/webhooks/webhook.ts'
import { type DocumentModel, evolvedBy, foldDocuments } from '../document.ts'
import type { Projector } from '../projector.ts'

const model: DocumentModel<Webhook> = {
  table: 'webhooks',
  ...evolvedBy(webhooks),
  columns: ({ tenantId }) => ({ tenant_id: tenantId }),
}

export const webhooksProjector: Projector = {
  name: 'webhooks',
  tables: ['webhooks'],
  ddl: `
    create table webhooks (
      stream text primary key,
      revision int not null,
      state jsonb not null,
      tenant_id text not null unique
    )`,
  fold: (db, entries) => foldDocuments(db, model, entries),
}
