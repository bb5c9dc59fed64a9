import { folding } from '../../src/domain/recorded.ts'
import { evolveWebhook, noWebhook, type Webhook } from '../../src/domain/webhook/webhook.ts'
import { type DocumentModel, foldDocuments } from '../document.ts'
import type { Projector } from '../projector.ts'

const webhooks: DocumentModel<Webhook> = {
  table: 'webhooks',
  category: 'webhook',
  absent: noWebhook,
  fold: folding('webhook', evolveWebhook),
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
  fold: (db, entries) => foldDocuments(db, webhooks, entries),
}
