import type { LicenseEvent } from './events.ts'

/** What of a license its sale can change. */
export type SaleFollowing = {
  expiresAt: string | null
  revokedAt: string | null
  revokedReason: string | null
  /** Since when the money for it is not there any more. */
  refundedAt: string | null
  /** How many facts of its sale it follows. */
  saleThrough: number
}

/** What a sale wants of its license after the first `through` facts that were told of it. */
export type SaleWish = {
  saleId: string
  through: number
  refund: { amount: number; currency: string } | null
  /** Whether the product leaves a license whose money went back in use. */
  keepRefunded: boolean
  /** When it is to end; undefined leaves it as it is. */
  expiresAt: string | null | undefined
  at: string
}

/** By which a revocation is known that a dispute won can undo. */
const refundReason = 'refunded'

/**
 * Brings a license to where its sale wants it. That nothing had to be changed is recorded too: whoever decided on
 * fewer facts, and comes late, is told by it that they are old.
 */
export function followed(license: SaleFollowing, wish: SaleWish): LicenseEvent[] {
  const { saleId, through, at } = wish
  if (license.saleThrough >= through) return []
  return [
    ...refunded(license, wish),
    ...ending(license, wish),
    { type: 'SaleFollowed', data: { saleId, through, at } },
  ]
}

function refunded(license: SaleFollowing, { saleId, refund, keepRefunded, at }: SaleWish): LicenseEvent[] {
  if ((refund === null) === (license.refundedAt === null)) return []
  if (refund === null) return [{ type: 'LicenseReinstated', data: { saleId, at } }]
  const told: LicenseEvent = { type: 'LicenseRefunded', data: { saleId, ...refund, at } }
  if (keepRefunded || license.revokedAt !== null) return [told]
  return [told, { type: 'LicenseRevoked', data: { reason: refundReason, at } }]
}

/** Also of a revoked one: a dispute that is won later finds what was paid for in the meantime. */
function ending({ expiresAt: before }: SaleFollowing, { expiresAt, at }: SaleWish): LicenseEvent[] {
  if (expiresAt === undefined || expiresAt === null || expiresAt === before) return []
  const isLater = before !== null && expiresAt > before
  return [{ type: isLater ? 'LicenseRenewed' : 'SubscriptionEnded', data: { expiresAt, at } }]
}

type EventBySale = Extract<
  LicenseEvent,
  { type: 'LicenseRefunded' | 'LicenseReinstated' | 'SubscriptionEnded' | 'SaleFollowed' }
>

/** Never refuses: what is recorded has happened. */
export function evolveBySale(license: SaleFollowing, event: EventBySale): Partial<SaleFollowing> {
  switch (event.type) {
    case 'LicenseRefunded':
      return { refundedAt: event.data.at }
    case 'LicenseReinstated': {
      const unrevoked = isRevokedForRefund(license) ? { revokedAt: null, revokedReason: null } : {}
      return { refundedAt: null, ...unrevoked }
    }
    case 'SubscriptionEnded':
      return { expiresAt: event.data.expiresAt }
    case 'SaleFollowed':
      return { saleThrough: event.data.through }
  }
}

/** One that a person revoked, before or after, stays revoked whatever becomes of the money. */
function isRevokedForRefund({ revokedAt, revokedReason, refundedAt }: SaleFollowing): boolean {
  return (
    revokedReason === refundReason && revokedAt !== null && refundedAt !== null && revokedAt >= refundedAt
  )
}
