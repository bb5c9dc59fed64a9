import type { IssuedLicense } from '../../src/domain/licenses/license.ts'
import type { PaymentNotification } from '../../src/payments/notification.ts'
import { month, purchase } from './notifications.ts'

/** A sale, and some of what can be told of it later. */
export function anyTold(
  name: string,
  { second, third }: Pick<typeof month, 'second' | 'third'> = month,
): PaymentNotification[] {
  const { sold, refunded, renewed, dispute, ended } = purchase(name)
  const later = [
    refunded('re_1', 10),
    refunded('re_2'),
    renewed('in_1', second),
    renewed('in_2', third),
    dispute('disputed'),
    dispute('dispute_lost'),
    dispute('dispute_won'),
    ended(second),
  ]
  return [sold(), ...later.filter(() => Math.random() < 0.4)]
}

/** Each of them one to five times, in any order. */
export function toldAgain<T>(told: readonly T[]): T[] {
  return told
    .flatMap((one) => Array.from({ length: 1 + Math.floor(Math.random() * 5) }, () => one))
    .map((one) => ({ one, order: Math.random() }))
    .sort((a, b) => a.order - b.order)
    .map(({ one }) => one)
}

/**
 * What the license comes to of which all this was told, in whatever order: a monthly one, issued at that time. Refunds and
 * disputes are of the first payment, so that a renewal leaves something that is paid.
 */
export function wantedOf(told: readonly PaymentNotification[], createdAt: string) {
  const types = told.map(({ type }) => type)
  const fully = told.some((one) => one.type === 'refunded' && one.full)
  const lost = types.includes('dispute_lost') && !types.includes('dispute_won')
  const isUnpaid = (fully || lost) && !types.includes('renewed')
  const ends = told.flatMap((one) => ('paidUntil' in one && one.paidUntil ? [one.paidUntil] : []))
  return {
    told: types,
    refunded: isUnpaid,
    cause: isUnpaid ? 'sale' : null,
    expiresAt: ends.sort().at(-1) ?? firstEnd(createdAt),
  }
}

/** What a license has come to, to be compared with {@link wantedOf}. */
export function foundOf(told: readonly PaymentNotification[], license: IssuedLicense) {
  const { refundedAt, revokedCause, expiresAt } = license
  const isBySale = revokedCause === 'refund' || revokedCause === 'dispute'
  const cause = isBySale ? 'sale' : revokedCause
  return { told: told.map(({ type }) => type), refunded: refundedAt !== null, cause, expiresAt }
}

/** A month after it was issued, in whole seconds. */
function firstEnd(createdAt: string): string {
  const end = new Date(createdAt)
  end.setUTCMilliseconds(0)
  end.setUTCMonth(end.getUTCMonth() + 1)
  return end.toISOString()
}
