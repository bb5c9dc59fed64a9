import type { Pool } from 'pg'
import { type Keyset, orderOf, type PageOf, pageOf } from '../../projections/page.ts'
import type { Provider } from '../domain/integrations/provider.ts'

/** Why a test notification had no effect. */
export const ignoredReasons = [
  'product_not_in_test_mode',
  'nothing_mapped',
  'product_not_found',
  'no_product_in_test_mode',
  'gumroad_test',
] as const
export type IgnoredReason = (typeof ignoredReasons)[number]

export type IgnoredTest = {
  provider: Provider
  notificationId: string
  /** Its kind: a sale, a refund, an end. */
  kind: string
  reason: IgnoredReason
  /** The product, or the provider's name of the unmapped item. */
  detail: string | null
}

type KeptIgnoredTest = IgnoredTest & {
  /** How often it was received. */
  times: number
  /** When it was received first. */
  receivedAt: string
  lastAt: string
}

/** A tenant's oldest entries beyond this number are deleted. */
const maxKept = 200
const keptMs = 30 * 86_400_000

/** The longest text that an id in the log, and an index, can hold. */
const maxTextLength = 500

/** Records a test notification that had no effect, or counts a repetition of it. */
export async function recordIgnoredTest(
  db: Pool,
  tenantId: string,
  { provider, notificationId, kind, reason, detail }: IgnoredTest,
  now: Date,
): Promise<void> {
  await db.query({
    name: 'note-ignored-test',
    text: `insert into usage.ignored_tests as t
             (tenant_id, provider, notification_id, kind, reason, detail, received_at, last_at)
           values ($1, $2, $3, $4, $5, $6, $7, $7)
           on conflict (tenant_id, provider, notification_id)
             do update set times = t.times + 1, kind = excluded.kind, reason = excluded.reason,
               detail = excluded.detail, last_at = excluded.last_at`,
    values: [
      tenantId,
      provider,
      notificationId.slice(0, maxTextLength),
      kind,
      reason,
      detail?.slice(0, maxTextLength) ?? null,
      now,
    ],
  })
  await db.query({
    name: 'forget-ignored-tests',
    text: `delete from usage.ignored_tests where ctid in (
             select ctid from usage.ignored_tests where tenant_id = $1 and received_at < $2
             union all
             (select ctid from usage.ignored_tests where tenant_id = $1 order by received_at desc offset $3)
           )`,
    values: [tenantId, new Date(now.getTime() - keptMs), maxKept],
  })
}

/** Lists ignored tests, newest first; at the same time, by provider and id. */
export async function listIgnoredTests(
  db: Pool,
  tenantId: string,
  { after, limit, order }: Keyset,
): Promise<PageOf<KeptIgnoredTest>> {
  const { by, past } = orderOf(order, 'received_at', "provider || ' ' || notification_id")
  const { rows } = await db.query<KeptIgnoredTest>(
    `select provider, notification_id as "notificationId", kind, reason, detail, times,
             received_at as "receivedAt", last_at as "lastAt"
           from usage.ignored_tests
           where tenant_id = $1
             and ($2::timestamptz is null or ${past('$2', '$3')})
           order by ${by} limit $4`,
    [tenantId, after?.createdAt ?? null, after?.id ?? null, limit + 1],
  )
  return pageOf(rows, limit, ({ receivedAt, provider, notificationId }) => ({
    createdAt: receivedAt,
    id: `${provider} ${notificationId}`,
  }))
}

/** Describes why a test had no effect, and what to do. */
export function describeIgnoredTest({ reason, detail }: Pick<IgnoredTest, 'reason' | 'detail'>): string {
  switch (reason) {
    case 'product_not_in_test_mode':
      return `the product ${detail ?? ''} is not in test mode; turn it on with POST /v1/products/${detail ?? '{productId}'}/test-mode`
    case 'nothing_mapped':
      return `no product is mapped to ${detail ?? 'the item'}; map one with POST /v1/products/{productId}/integrations/{provider}`
    case 'product_not_found':
      return `the product ${detail ?? ''} does not exist`
    case 'no_product_in_test_mode':
      return 'no product is in test mode; turn it on with POST /v1/products/{productId}/test-mode'
    case 'gumroad_test':
      return 'Gumroad test notifications have no effect; run a test purchase instead with POST /v1/test-purchase'
  }
}
