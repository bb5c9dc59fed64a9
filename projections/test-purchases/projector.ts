import { type TestPurchase, testPurchases } from '../../src/domain/test-purchases/test-purchase.ts'
import { applyToDocuments, type DocumentModel, evolvedBy } from '../document.ts'
import type { Projector } from '../projector.ts'

const model: DocumentModel<TestPurchase> = {
  table: 'test_purchases',
  ...evolvedBy(testPurchases),
  columns: (purchase) =>
    purchase.status === 'absent'
      ? {}
      : {
          test_purchase_id: purchase.testPurchaseId,
          tenant_id: purchase.tenantId,
          status: purchase.status,
          started_at: purchase.startedAt,
        },
}

export const testPurchasesProjector: Projector = {
  name: 'test_purchases',
  tables: ['test_purchases'],
  ddl: `
    create table test_purchases (
      stream text primary key,
      revision int not null,
      state jsonb not null,
      test_purchase_id text not null unique,
      tenant_id text not null,
      status text not null,
      started_at timestamptz not null
    );
    create index test_purchases_running on test_purchases (started_at) where status = 'running';
    create index test_purchases_by_age on test_purchases (tenant_id, started_at desc)`,
  apply: (db, entries) => applyToDocuments(db, model, entries),
}
