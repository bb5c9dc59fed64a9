import { testPurchases } from '../../src/domain/test-purchases/test-purchase.ts'
import { defineDocuments, evolvedBy, projectorOf } from '../document.ts'

const documents = defineDocuments(evolvedBy(testPurchases), {
  table: 'test_purchases',
  begun: (purchase) => (purchase.status === 'absent' ? undefined : purchase),
  columns: {
    testPurchaseId: 'text not null unique',
    tenantId: 'text not null',
    status: 'text not null',
    startedAt: 'timestamptz not null',
  },
  indexes: {
    test_purchases_running: "(started_at) where status = 'running'",
    test_purchases_by_age: '(tenant_id, started_at desc)',
  },
})

export const testPurchasesProjector = projectorOf(documents)
