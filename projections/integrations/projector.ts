import {
  absentIntegration,
  evolveIntegration,
  type Integration,
} from '../../src/domain/integration/integration.ts'
import { folding } from '../../src/domain/recorded.ts'
import { type DocumentModel, foldDocuments } from '../document.ts'
import type { Projector } from '../projector.ts'

const integrations: DocumentModel<Integration> = {
  table: 'integrations',
  category: 'integration',
  absent: absentIntegration,
  fold: folding('integration', evolveIntegration),
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
  fold: (db, entries) => foldDocuments(db, integrations, entries),
}
