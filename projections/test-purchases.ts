import type { Pool } from 'pg'
import { type KnownTestPurchase, testPurchases } from '../src/domain/test-purchases/test-purchase.ts'
import { defineDocuments, evolvedBy, projectorOf } from './document.ts'

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

export async function findTestPurchase(
  db: Pool,
  tenantId: string,
  testPurchaseId: string,
): Promise<KnownTestPurchase | undefined> {
  const { rows } = await db.query<{ state: KnownTestPurchase }>({
    name: 'find-test-purchase',
    text: 'select state from test_purchases where tenant_id = $1 and test_purchase_id = $2',
    values: [tenantId, testPurchaseId],
  })
  return rows[0]?.state
}

/** The ids of running test purchases that were started before a time, oldest first. */
export async function listRunningTestPurchases(
  db: Pool,
  { from, until }: { from: string; until: string },
  { except, most }: { except: readonly string[]; most: number },
): Promise<string[]> {
  const { rows } = await db.query<{ test_purchase_id: string }>(
    `select test_purchase_id from test_purchases where status = 'running' and (started_at <= $1 or started_at > $2)
       and test_purchase_id <> all($3) order by started_at, stream limit $4`,
    [from, until, except, most],
  )
  return rows.map(({ test_purchase_id }) => test_purchase_id)
}

/** The newest test purchase of a tenant; undefined when there is none. */
export async function newestTestPurchase(db: Pool, tenantId: string): Promise<KnownTestPurchase | undefined> {
  const { rows } = await db.query<{ state: KnownTestPurchase }>({
    name: 'newest-test-purchase',
    text: 'select state from test_purchases where tenant_id = $1 order by started_at desc limit 1',
    values: [tenantId],
  })
  return rows[0]?.state
}

/** Whether a test purchase of the tenant ever succeeded. */
export async function hasTestPurchase(db: Pool, tenantId: string): Promise<boolean> {
  const { rows } = await db.query<{ succeeded: boolean }>({
    name: 'has-test-purchase',
    text: `select exists (select from test_purchases where tenant_id = $1 and status = 'succeeded') as succeeded`,
    values: [tenantId],
  })
  return rows[0]?.succeeded ?? false
}
