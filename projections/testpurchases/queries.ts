import type { Pool } from 'pg'
import type { KnownTestPurchase } from '../../src/domain/testpurchase/test-purchase.ts'

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

/** The ids of those that have not ended and were started before a moment, oldest first. */
export async function listRunningTestPurchases(db: Pool, startedBefore: string): Promise<string[]> {
  const { rows } = await db.query<{ test_purchase_id: string }>(
    `select test_purchase_id from test_purchases where status = 'running' and started_at < $1
     order by started_at, stream limit 1000`,
    [startedBefore],
  )
  return rows.map(({ test_purchase_id }) => test_purchase_id)
}
