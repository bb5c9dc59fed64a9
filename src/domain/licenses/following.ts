import type { OnExpiry } from '../products/key-type.ts'
import type { LicenseEvent, RevocationCause } from './events.ts'

/** What of a license its sale can change. */
export type SaleFollowing = SaleTerms & {
  expiresAt: string | null
  revokedAt: string | null
  revokedReason: string | null
  revokedCause: RevocationCause | null
  /** Since when nothing that was paid for it is left. */
  refundedAt: string | null
  /** The payments of its sale whose money went back. */
  refundedPayments: readonly string[]
  /** How many facts of its sale it follows. */
  saleThrough: number
}

/** What a license is of a product, which a change of its subscription changes. */
export type SaleTerms = {
  keyTypeId: string
  quantity: number
  deviceLimit: number | null
  onExpiry: OnExpiry
}

/** What a sale wants of its license after the first `through` facts that were reported of it. */
export type DesiredState = {
  saleId: string
  through: number
  /** Every payment whose money went back. */
  refunded: readonly Refunded[]
  /** Why nothing that was paid is left; null while something is. */
  unpaid: 'refund' | 'dispute' | null
  /** Whether the product leaves a license whose money went back in use. */
  keepRefunded: boolean
  /** When it is to end; undefined leaves it as it is. */
  expiresAt: string | null | undefined
  /** Whether a payment after the first one gives it this end. */
  isRenewed: boolean
  /** Whether its subscription has ended. */
  hasEnded: boolean
  /** What the subscription was changed to; null leaves it as it is. */
  terms: SaleTerms | null
  at: string
}

type Refunded = {
  payment: string
  because: 'refund' | 'dispute'
  amount: number
  totalRefunded: number
  currency: string
}

/** The reason that a revocation for a refund or a lost dispute shows. What counts is its cause. */
const refundReason = 'refunded'

/**
 * Brings a license to where its sale wants it. That nothing had to be changed is recorded too: a process that decided
 * on fewer facts, and comes late, is reported by it that they are old.
 */
export function followed(license: SaleFollowing, desired: DesiredState): LicenseEvent[] {
  const { saleId, through, at } = desired
  if (license.saleThrough >= through) return []
  return [
    ...reinstated(license, desired),
    ...refunded(license, desired),
    ...changed(license, desired),
    { type: 'SaleFollowed', data: { saleId, through, at } },
  ]
}

/** Money that is there after all: of payments that went back, or by a payment that comes after all others went back. */
function reinstated(license: SaleFollowing, { saleId, refunded, unpaid, at }: DesiredState): LicenseEvent[] {
  const payments = license.refundedPayments.filter(
    (known) => !refunded.some(({ payment }) => payment === known),
  )
  const isPaidAgain = license.refundedAt !== null && unpaid === null
  if (payments.length === 0 && !isPaidAgain) return []
  return [{ type: 'LicenseReinstated', data: { saleId, payments, paidLeft: unpaid === null, at } }]
}

function refunded(license: SaleFollowing, desired: DesiredState): LicenseEvent[] {
  const { saleId, unpaid, keepRefunded, at } = desired
  const paidLeft = unpaid === null
  const reported = newlyRefunded(license, desired).map(
    ({ because: cause, ...refund }): LicenseEvent => ({
      type: 'LicenseRefunded',
      data: { saleId, ...refund, cause, paidLeft, at },
    }),
  )
  if (paidLeft || reported.length === 0 || keepRefunded || license.revokedAt !== null) return reported
  return [...reported, { type: 'LicenseRevoked', data: { reason: refundReason, cause: unpaid, at } }]
}

function newlyRefunded(
  { refundedAt, refundedPayments }: SaleFollowing,
  desired: DesiredState,
): readonly Refunded[] {
  const news = desired.refunded.filter(({ payment }) => !refundedPayments.includes(payment))
  if (desired.unpaid === null) return news
  // It was reported already, in a shape that does not say of which payment.
  if (refundedAt !== null && refundedPayments.length === 0) return []
  // What seemed to be left turned out to be paid by the payment that was refunded: reported again, as the last one.
  return news.length === 0 && refundedAt === null ? desired.refunded.slice(-1) : news
}

/**
 * Also of a revoked one: a dispute that is won later finds what was paid for in the meantime. A license that runs longer
 * since it was paid for is renewed; anything else about its end is a change.
 */
function changed(license: SaleFollowing, desired: DesiredState): LicenseEvent[] {
  const { saleId, at, isRenewed, hasEnded } = desired
  const expiresAt = desired.expiresAt === undefined ? license.expiresAt : desired.expiresAt
  const before = license.expiresAt
  const isMoved = expiresAt !== before
  const isLater = before !== null && expiresAt !== null && expiresAt > before
  const own: LicenseEvent[] =
    !isMoved || expiresAt === null
      ? []
      : isLater && isRenewed
        ? [{ type: 'LicenseRenewed', data: { expiresAt, at } }]
        : hasEnded
          ? [{ type: 'SubscriptionEnded', data: { expiresAt, at } }]
          : []
  const isTold = own.length > 0
  const terms = newTerms(license, desired.terms)
  if (terms === null && (!isMoved || isTold)) return own
  const { keyTypeId, quantity, deviceLimit, onExpiry } = terms ?? license
  const changedTo = { keyTypeId, quantity, deviceLimit, onExpiry, expiresAt: isTold ? before : expiresAt }
  return [{ type: 'LicenseTermsChanged', data: { saleId, ...changedTo, at } }, ...own]
}

/** Another limit alone is no change: a key type that was edited leaves its licenses as they were issued. */
function newTerms(license: SaleFollowing, terms: SaleTerms | null): SaleTerms | null {
  if (terms === null) return null
  return terms.keyTypeId === license.keyTypeId && terms.quantity === license.quantity ? null : terms
}

type EventBySale = Extract<
  LicenseEvent,
  {
    type:
      | 'LicenseRefunded'
      | 'LicenseReinstated'
      | 'LicenseTermsChanged'
      | 'SubscriptionEnded'
      | 'SaleFollowed'
  }
>

/** Never refuses: what is recorded has happened. */
export function evolveBySale(license: SaleFollowing, event: EventBySale): Partial<SaleFollowing> {
  switch (event.type) {
    case 'LicenseRefunded': {
      const { payment, paidLeft, at } = event.data
      const known = license.refundedPayments
      return {
        refundedAt: paidLeft ? license.refundedAt : (license.refundedAt ?? at),
        refundedPayments: payment === null ? known : [...new Set([...known, payment])].sort(),
      }
    }
    case 'LicenseReinstated': {
      const { payments, paidLeft } = event.data
      const refundedPayments = license.refundedPayments.filter((known) => !payments.includes(known))
      if (!paidLeft) return { refundedPayments }
      const unrevoked = isRevokedBySale(license)
        ? { revokedAt: null, revokedReason: null, revokedCause: null }
        : {}
      return { refundedAt: null, refundedPayments, ...unrevoked }
    }
    case 'LicenseTermsChanged': {
      const { keyTypeId, quantity, deviceLimit, onExpiry, expiresAt } = event.data
      return { keyTypeId, quantity, deviceLimit, onExpiry, expiresAt }
    }
    case 'SubscriptionEnded':
      return { expiresAt: event.data.expiresAt }
    case 'SaleFollowed':
      return { saleThrough: event.data.through }
  }
}

/** What a person revoked stays revoked, whatever becomes of the money. */
const isRevokedBySale = ({ revokedCause }: SaleFollowing): boolean =>
  revokedCause === 'refund' || revokedCause === 'dispute'

/**
 * Why a license was revoked. Revocations that were recorded without a cause for the reason `refunded` are the sale's
 * where they stand beside the refund, which was recorded at the same moment; otherwise a person typed that reason.
 */
export function causeOfRevocation(
  { refundedAt }: SaleFollowing,
  { cause, at }: { cause: RevocationCause | null; at: string },
): RevocationCause {
  return cause ?? (refundedAt === at ? 'refund' : 'person')
}
