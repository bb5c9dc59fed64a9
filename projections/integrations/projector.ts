import { integrations } from '../../src/domain/integrations/integration.ts'
import { defineDocuments, evolvedBy, projectorOf } from '../document.ts'

const documents = defineDocuments(evolvedBy(integrations), {
  table: 'integrations',
  begun: (integration) => (integration.status === 'absent' ? undefined : integration),
  columns: {
    tenantId: 'text not null',
    provider: 'text not null',
  },
  constraints: ['unique (tenant_id, provider)'],
  indexes: {
    integrations_of_account: "((state->>'accountId')) where provider = 'stripe'",
  },
})

export const integrationsProjector = projectorOf(documents)
