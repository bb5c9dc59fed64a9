import { confirmations } from '../../src/domain/confirmations/confirmation.ts'
import { defineDocuments, evolvedBy, projectorOf } from '../document.ts'

const documents = defineDocuments(evolvedBy(confirmations), {
  table: 'confirmations',
  begun: (confirmation) => (confirmation.status === 'absent' ? undefined : confirmation),
  columns: {
    confirmationId: 'text not null unique',
    tenantId: 'text not null',
    status: 'text not null',
    expiresAt: 'timestamptz not null',
    decidedAt: 'timestamptz',
    consumedAt: 'timestamptz',
    createdAt: 'timestamptz not null',
  },
  indexes: {
    confirmations_of_tenant: '(tenant_id, created_at desc, confirmation_id desc)',
    // What reactions look for; next to nothing stands in any of them for long. An approved one expires as well.
    confirmations_pending: "(expires_at) where status = 'pending'",
    confirmations_approved: "(decided_at) where status = 'approved'",
    confirmations_consumed: "(consumed_at) where status = 'consumed'",
  },
})

export const confirmationsProjector = projectorOf(documents)
