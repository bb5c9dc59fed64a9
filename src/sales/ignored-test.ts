import type { PaymentNotification } from '../payments/notification.ts'
import type { Ports } from '../ports.ts'
import { type IgnoredReason, type IgnoredTest, recordIgnoredTest } from '../usage/ignored-tests.ts'
import type { Resolved } from './mapping.ts'

type Why = Pick<IgnoredTest, 'reason' | 'detail'>

/** Why a test notification has no effect. */
export function whyIgnored({ resolution, product }: Resolved): Why {
  if (product) return { reason: 'product_not_in_test_mode', detail: product.productId }
  const detail = 'reason' in resolution ? resolution.detail : null
  const isNamed = 'reason' in resolution && resolution.reason === 'product_not_found'
  return { reason: isNamed ? 'product_not_found' : 'nothing_mapped', detail }
}

/** Lists a test that has no effect, so that its vendor finds out why. */
export async function ignoredTest(
  ports: Ports<'db' | 'now'>,
  tenantId: string,
  { provider, notificationId, type: kind }: PaymentNotification,
  why: Why,
): Promise<{ outcome: 'ignored'; reason: IgnoredReason }> {
  await recordIgnoredTest(ports.db, tenantId, { provider, notificationId, kind, ...why }, ports.now())
  return { outcome: 'ignored', reason: why.reason }
}
