import { sameJson } from '../equality.ts'
import type { OnExpiry } from '../products/key-type.ts'
import type { LicenseEvent, LicenseTerms, RevocationCause, SoldTerms } from './events.ts'
import { type FailedRenewals, newlyFailed } from './failed-renewals.ts'
import { recordedGrace } from './grace.ts'
import { type RecordedTerm, recordedTerm, type Term, termIn } from './term.ts'
import { type PaidUpdates, type Updates, updatesOfNewKeyType, updatesPaidBy } from './updates.ts'

/** What a sale can change about its license. */
export type SaleFollowing = SaleTerms &
  Term &
  Updates &
  Pick<LicenseTerms, 'createdAt' | 'holder'> & {
    graceSeconds: number | null
    revokedAt: string | null
    revokedReason: string | null
    revokedCause: RevocationCause | null
    /** Since when no payment for it is left. */
    refundedAt: string | null
    /** The payments of its sale that were refunded or lost in a dispute. */
    refundedPayments: readonly string[]
    /** How many facts of its sale it reflects. */
    saleThrough: number
    /** What its sale entitled to when it last followed the sale; null for its own terms. */
    sold: SoldTerms | null
  }

/** The terms of a license that a change of its subscription changes. */
export type SaleTerms = {
  keyTypeId: string
  quantity: number
  deviceLimit: number | null
  onExpiry: OnExpiry
  /** How long it stays active after its expiry; none means not at all. */
  graceSeconds?: number | null | undefined
}

/** The state that a license should have after the first `through` facts of its sale. */
export type DesiredState = {
  saleId: string
  through: number
  /** Every payment that was refunded or lost in a dispute. */
  refunded: readonly Refunded[]
  /** Why no payment is left; null while one is. */
  unpaid: 'refund' | 'dispute' | null
  /** Whether the product keeps a refunded license in use. */
  keepRefunded: boolean
  /** When it should expire; undefined keeps its present expiry. */
  expiresAt: string | null | undefined
  /** Whether this expiry follows from a payment after the first one. */
  isRenewed: boolean
  /** Whether its subscription has ended. */
  hasEnded: boolean
  /** The terms that the subscription was changed to; null keeps the present ones. */
  terms: SaleTerms | null
  /** What later payments are worth for the updates; undefined where they extend none. */
  updates?: PaidUpdates | undefined
  /** Renewals whose payment failed and is still to be made. */
  failed?: FailedRenewals | undefined
  at: string
}

type Refunded = {
  payment: string
  because: 'refund' | 'dispute'
  amount: number
  totalRefunded: number
  currency: string
}

/** The reason shown for a revocation after a refund or a lost dispute. Rules depend on the cause instead. */
const refundReason = 'refunded'

/**
 * Returns the events that bring a license to the desired state. `SaleFollowed` is recorded even if nothing
 * else changes: it makes a late process that decided on fewer facts see that they are outdated.
 */
export function followed(license: SaleFollowing, desired: DesiredState): LicenseEvent[] {
  const { saleId, through, at } = desired
  if (license.saleThrough >= through) return []
  const terms = changed(license, desired)
  const paid = paidFor(license, desired, terms)
  const { updatesUntil, updatesPaidAt } = paid
  const isExtended = updatesUntil !== null && updatesUntil !== license.updatesUntil
  const sold = soldNow(license, desired)
  const counted = updatesUntil !== null && updatesPaidAt !== null ? { updatesPaidAt } : {}
  return [
    ...reinstated(license, desired),
    ...refunded(license, desired),
    ...terms,
    ...newlyFailed(license, desired),
    ...(isExtended ? [{ type: 'UpdatesExtended', data: { saleId, updatesUntil, at } } as const] : []),
    { type: 'SaleFollowed', data: { saleId, through, sold, ...counted, at } },
  ]
}

/** The updates after the payments. Those that begin with new terms begin now, whatever was paid before. */
function paidFor(license: SaleFollowing, { updates }: DesiredState, terms: readonly LicenseEvent[]): Updates {
  const [change] = terms.filter((event) => event.type === 'LicenseTermsChanged')
  if (updates === undefined || change?.data.updatesUntil !== undefined) return license
  return updatesPaidBy(license, change?.data.keyTypeId ?? license.keyTypeId, updates)
}

/** What the sale entitles to now. */
function soldNow(license: SaleFollowing, { terms, expiresAt }: DesiredState): SoldTerms {
  const before = soldBefore(license)
  return {
    keyTypeId: terms?.keyTypeId ?? before.keyTypeId,
    quantity: terms?.quantity ?? before.quantity,
    ...(expiresAt === undefined ? withoutPlan(before) : { expiresAt }),
  }
}

/** What the sale entitled to when the license last followed it, or at its issue. */
const soldBefore = ({ sold, keyTypeId, quantity, ...term }: SaleFollowing): SoldTerms =>
  sold ?? { keyTypeId, quantity, ...recordedTerm(term) }

/** Kept with a change that the sale has not made, so that a later notification about the sale does not undo it. */
export const soldOf = (license: SaleFollowing & { saleId: string | null }): SoldTerms | null =>
  license.saleId === null ? null : soldBefore(license)

const withoutPlan = (sold: SoldTerms): RecordedTerm => recordedTerm(termIn(sold))

/** Payments that are no longer returned, or a payment that was made after all others were returned. */
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
  // It was recorded already, in a shape that does not name the payment.
  if (refundedAt !== null && refundedPayments.length === 0) return []
  // The refunded payment turned out to be the only one left, so its refund is recorded again, as the last
  // one.
  return news.length === 0 && refundedAt === null ? desired.refunded.slice(-1) : news
}

/**
 * A revoked license is changed too: if a dispute is won later, it must have the expiry that was paid for
 * meanwhile. A later expiry from a payment is a renewal; any other move of the expiry is a change of terms.
 */
function changed(license: SaleFollowing, desired: DesiredState): LicenseEvent[] {
  const { saleId, at, isRenewed, hasEnded } = desired
  const before = recordedTerm(license)
  const term = newTerm(license, desired)
  const { expiresAt } = term
  const isMoved = !sameJson(term, before)
  const own: LicenseEvent[] =
    !isMoved || expiresAt === null
      ? []
      : isLater(expiresAt, before.expiresAt) && isRenewed
        ? [{ type: 'LicenseRenewed', data: { expiresAt, at } }]
        : hasEnded
          ? [{ type: 'SubscriptionEnded', data: { expiresAt, at } }]
          : []
  const isTold = own.length > 0
  const terms = newTerms(license, desired)
  if (terms === null && (!isMoved || isTold)) return own
  const { keyTypeId, quantity, deviceLimit, onExpiry, ...more } = terms ?? license
  const plan = { keyTypeId, quantity, deviceLimit, onExpiry, ...recordedGrace(more) }
  const updates = begunUpdates(license, keyTypeId, desired)
  const changedTo = { ...plan, ...(isTold ? before : term), ...updates }
  return [{ type: 'LicenseTermsChanged', data: { saleId, ...changedTo, at } }, ...own]
}

/** The updates of a license that gets a key type with a period of them, and had none. */
function begunUpdates(
  license: SaleFollowing,
  keyTypeId: string,
  { updates, at }: DesiredState,
): { updatesUntil?: string } {
  if (keyTypeId === license.keyTypeId) return {}
  const updatesUntil = updatesOfNewKeyType(license, updates?.byKeyType.get(keyTypeId), at)
  return updatesUntil === undefined ? {} : { updatesUntil }
}

/**
 * The license keeps the expiry that its vendor gave it until its sale entitles to another one. Even then a payment does not
 * shorten it. A paid period replaces a term that waits.
 */
function newTerm(license: SaleFollowing, desired: DesiredState): RecordedTerm {
  const own = recordedTerm(license)
  const before = withoutPlan(soldBefore(license))
  const after = withoutPlan(soldNow(license, desired))
  if (sameJson(after, before)) return own
  const isPaidLonger = before.startsWith !== undefined || isLater(after.expiresAt, before.expiresAt)
  const isKept = isPaidLonger && own.startsWith === undefined && !isLater(after.expiresAt, own.expiresAt)
  return isKept ? own : after
}

/** null is never, and so later than any moment. */
const isLater = (left: string | null, right: string | null): boolean =>
  right !== null && (left === null || left > right)

/**
 * The license keeps the terms that its vendor gave it until its sale's key type or quantity changes. A different device limit
 * alone is not a change: licenses keep their terms when a key type is edited.
 */
function newTerms(license: SaleFollowing, desired: DesiredState): SaleTerms | null {
  const { terms } = desired
  if (terms === null || isSamePlan(terms, soldBefore(license)) || isSamePlan(terms, license)) return null
  return terms
}

type Plan = Pick<SoldTerms, 'keyTypeId' | 'quantity'>

const isSamePlan = (left: Plan, right: Plan): boolean =>
  left.keyTypeId === right.keyTypeId && left.quantity === right.quantity

type EventBySale = Extract<
  LicenseEvent,
  {
    type:
      | 'LicenseRefunded'
      | 'LicenseReinstated'
      | 'LicenseTermsChanged'
      | 'UpdatesExtended'
      | 'LicenseRenewalFailed'
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
      const { keyTypeId, quantity, deviceLimit, onExpiry, graceSeconds = null } = event.data
      const { updatesUntil, at } = event.data
      const updates = updatesUntil === undefined ? {} : { updatesUntil, updatesPaidAt: at }
      return { keyTypeId, quantity, deviceLimit, onExpiry, graceSeconds, ...termIn(event.data), ...updates }
    }
    case 'UpdatesExtended':
      return { updatesUntil: event.data.updatesUntil }
    case 'LicenseRenewalFailed':
      return {}
    case 'SubscriptionEnded':
      return termIn(event.data)
    case 'SaleFollowed': {
      const { through: saleThrough, sold, updatesPaidAt } = event.data
      return { saleThrough, sold, ...(updatesPaidAt !== undefined && { updatesPaidAt }) }
    }
  }
}

/** A license that a person revoked stays revoked, whatever happens to its payments. */
const isRevokedBySale = ({ revokedCause }: SaleFollowing): boolean =>
  revokedCause === 'refund' || revokedCause === 'dispute'

/**
 * Why a license was revoked. A revocation without a recorded cause and with the reason `refunded` belongs to
 * the sale if it was recorded at the same moment as the refund. Otherwise a person typed that reason.
 */
export function causeOfRevocation(
  { refundedAt }: SaleFollowing,
  { cause, at }: { cause: RevocationCause | null; at: string },
): RevocationCause {
  return cause ?? (refundedAt === at ? 'refund' : 'person')
}
