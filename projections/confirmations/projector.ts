import { type Confirmation, confirmations } from '../../src/domain/confirmations/confirmation.ts'
import { applyToDocuments, type DocumentModel, evolvedBy } from '../document.ts'
import type { Projector } from '../projector.ts'

const model: DocumentModel<Confirmation> = {
  table: 'confirmations',
  ...evolvedBy(confirmations),
  columns: (confirmation) =>
    confirmation.status === 'absent'
      ? {}
      : {
          confirmation_id: confirmation.confirmationId,
          tenant_id: confirmation.tenantId,
          status: confirmation.status,
          expires_at: confirmation.expiresAt,
          decided_at: confirmation.decidedAt,
          consumed_at: confirmation.consumedAt,
          created_at: confirmation.createdAt,
        },
}

export const confirmationsProjector: Projector = {
  name: 'confirmations',
  tables: ['confirmations'],
  ddl: `
    create table confirmations (
      stream text primary key,
      revision int not null,
      state jsonb not null,
      confirmation_id text not null unique,
      tenant_id text not null,
      status text not null,
      expires_at timestamptz not null,
      decided_at timestamptz,
      consumed_at timestamptz,
      created_at timestamptz not null
    );
    create index confirmations_of_tenant on confirmations (tenant_id, created_at desc, confirmation_id desc);
    -- What reactions look for; next to nothing stands in any of them for long. An approved one expires as well.
    create index confirmations_pending on confirmations (expires_at) where status = 'pending';
    create index confirmations_approved on confirmations (decided_at) where status = 'approved';
    create index confirmations_consumed on confirmations (consumed_at) where status = 'consumed'`,
  apply: (db, entries) => applyToDocuments(db, model, entries),
}
