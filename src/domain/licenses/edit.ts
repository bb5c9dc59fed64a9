import { sameJson } from '../equality.ts'
import { Refusal } from '../refusal.ts'
import type { Holder, LicenseEvent, LicenseTerms } from './events.ts'
import { type SaleFollowing, type SaleTerms, soldOf } from './following.ts'
import { recordedGrace } from './grace.ts'
import { recordedTerm } from './term.ts'

/** The state of a license that its vendor can change. */
type Editable = SaleFollowing &
  Pick<LicenseTerms, 'holder' | 'metadata' | 'saleId'> & {
    revokedAt: string | null
    suspendedAt: string | null
  }

/** What a vendor changes; an absent field keeps its value. */
export type LicenseEdit = {
  /** The key type and quantity, with the rules that follow from them. */
  plan?: Pick<SaleTerms, 'keyTypeId' | 'quantity' | 'onExpiry' | 'graceSeconds'> | undefined
  deviceLimit?: number | null | undefined
  expiresAt?: string | null | undefined
  holder?: Holder | null | undefined
  metadata?: Record<string, string> | undefined
  updatesUntil?: string | null | undefined
}

export type EditCommand = {
  type: 'EditLicense'
  edit: LicenseEdit
  /** The customer with the address of the new holder; undefined where the holder stays, or there is none. */
  customerId?: string | undefined
  reason: string | null
  at: string
}

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
  const after = { ...before, ...given(edit) }
  const { updatesUntil = license.updatesUntil } = edit
  const updates = updatesUntil === license.updatesUntil ? {} : { updatesUntil }
  if (sameJson(before, after) && sameJson(updates, {})) return []
  const { expiresAt, startsWith, graceSeconds, ...others } = after
  const isMoved = expiresAt !== before.expiresAt
  if (isMoved && expiresAt !== null && expiresAt <= at) throw new Refusal('expiry_in_the_past')
  const recorded = {
    ...others,
    ...recordedTerm({ expiresAt, startsWith }),
    ...recordedGrace({ graceSeconds }),
    ...updates,
  }
  return [{ type: 'LicenseEdited', data: { ...recorded, sold: soldOf(license), reason, at } }]
}

function termsOf(license: Editable) {
  const { keyTypeId, quantity, deviceLimit, onExpiry, graceSeconds, expiresAt, startsWith } = license
  const { holder, metadata } = license
  const plan = { keyTypeId, quantity, deviceLimit, onExpiry, graceSeconds }
  return { ...plan, expiresAt, startsWith, holder, metadata }
}

const given = ({ plan, deviceLimit, expiresAt, holder, metadata }: LicenseEdit) => ({
  ...(plan && { ...plan, graceSeconds: plan.graceSeconds ?? null }),
  ...(deviceLimit !== undefined && { deviceLimit }),
  // An expiry that is given, also that there is none, replaces a term that waits.
  ...(expiresAt !== undefined && { expiresAt, startsWith: null }),
  ...(holder !== undefined && { holder }),
  ...(metadata !== undefined && { metadata }),
})

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
