import { sameJson } from '../equality.ts'
import type { OnExpiry } from '../products/key-type.ts'
import { Refusal } from '../refusal.ts'
import type { Holder, LicenseEvent, LicenseTerms, SoldTerms } from './events.ts'
import { type SaleFollowing, soldBefore } from './following.ts'

/** The state of a license that its vendor can change. */
type Editable = SaleFollowing &
  Pick<LicenseTerms, 'holder' | 'metadata' | 'saleId'> & {
    revokedAt: string | null
    suspendedAt: string | null
  }

/** What a vendor changes; an absent field keeps its value. */
export type LicenseEdit = {
  /** The key type and quantity, with the rules that follow from them. */
  plan?: { keyTypeId: string; quantity: number; onExpiry: OnExpiry } | undefined
  deviceLimit?: number | null | undefined
  expiresAt?: string | null | undefined
  holder?: Holder | null | undefined
  metadata?: Record<string, string> | undefined
  updatesUntil?: string | null | undefined
}

export type EditCommand = { type: 'EditLicense'; edit: LicenseEdit; reason: string | null; at: string }

export type SuspendCommand =
  | { type: 'SuspendLicense'; reason: string | null; at: string }
  | { type: 'ResumeLicense'; reason: string | null; at: string }

/**
 * Fewer seats than are in use lower the limit and free none. Returning no events means that nothing differs.
 * @throws Refusal `license_revoked`, `expiry_in_the_past`
 */
export function edited(license: Editable, { edit, reason, at }: EditCommand): LicenseEvent[] {
  if (license.revokedAt !== null) throw new Refusal('license_revoked')
  const before = termsOf(license)
  const after = { ...before, ...edit.plan, ...given(edit) }
  const { updatesUntil = license.updatesUntil } = edit
  const updates = updatesUntil === license.updatesUntil ? {} : { updatesUntil }
  if (sameJson(before, after) && sameJson(updates, {})) return []
  const { expiresAt } = after
  const isMoved = expiresAt !== before.expiresAt
  if (isMoved && expiresAt !== null && expiresAt <= at) throw new Refusal('expiry_in_the_past')
  return [{ type: 'LicenseEdited', data: { ...after, ...updates, sold: soldOf(license), reason, at } }]
}

function termsOf(license: Editable) {
  const { keyTypeId, quantity, deviceLimit, onExpiry, expiresAt, holder, metadata } = license
  return { keyTypeId, quantity, deviceLimit, onExpiry, expiresAt, holder, metadata }
}

const given = ({ deviceLimit, expiresAt, holder, metadata }: LicenseEdit) => ({
  ...(deviceLimit !== undefined && { deviceLimit }),
  ...(expiresAt !== undefined && { expiresAt }),
  ...(holder !== undefined && { holder }),
  ...(metadata !== undefined && { metadata }),
})

/** Kept with the change, so that a later notification about the sale does not undo it. */
const soldOf = (license: Editable): SoldTerms | null => (license.saleId === null ? null : soldBefore(license))

/**
 * Suspends or resumes a license. A license that is in that state already is left unchanged.
 * @throws Refusal `license_revoked`
 */
export function suspended(license: Editable, { type, reason, at }: SuspendCommand): LicenseEvent[] {
  if (license.revokedAt !== null) throw new Refusal('license_revoked')
  const isSuspended = license.suspendedAt !== null
  if (type === 'SuspendLicense')
    return isSuspended ? [] : [{ type: 'LicenseSuspended', data: { reason, at } }]
  return isSuspended ? [{ type: 'LicenseResumed', data: { reason, at } }] : []
}
