import { type Integration, integrations } from '../../src/domain/integrations/integration.ts'
import { applyToDocuments, type DocumentModel, evolvedBy } from '../document.ts'
import type { Projector } from '../projector.ts'

const model: DocumentModel<Integration> = {
  table: 'integrations',
  ...evolvedBy(integrations),
  columns: (integration) =>
    integration.status === 'absent'
      ? {}
      : { tenant_id: integration.tenantId, provider: integration.provider },
}

export const integrationsProjector: Projector = {
  name: 'integrations',
  tables: ['integrations'],
  ddl: `
    create table integrations (
      stream text primary key,
      revision int not null,
      state jsonb not null,
      tenant_id text not null,
      provider text not null,
      unique (tenant_id, provider)
    );
    create index on integrations ((state->>'accountId')) where provider = 'stripe'`,
  apply: (db, entries) => applyToDocuments(db, model, entries),
}
