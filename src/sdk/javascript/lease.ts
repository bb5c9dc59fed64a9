import { isField, isSeconds, type Keyset, type Place } from './keyset.ts'
import { type Holder, refused, type StatementDoubt, verifyStatement } from './statement.ts'

export type Lease = {
  kid: string
  licenseKeyHash: string
  instanceId: string
  issuedAt: number
  expiresAt: number
  /** `active`, `fallback` or `expired`; only `active` grants everything. */
  status: string
  entitlements: readonly string[]
  signature: string
}

/**
 * Why a lease must not be used. After `unknown_key`, fetch the keyset again. `over` means genuine but expired:
 * validate again.
 */
export type LeaseRefusal = StatementDoubt | 'over'

const entitlement = /^[a-z0-9][a-z0-9._:-]{0,63}$/

/**
 * Verifies a lease: its key is known, its fields are the signed ones, it was made for this tenant, product, license
 * key and instance, and `now` is not after its end.
 *
 * The lease of a license that has expired without a fallback ends with the license, so it is genuine and `over`.
 * @param now Unix seconds
 */
export function verifyLease(
  value: unknown,
  expected: Place & Holder,
  keyset: Keyset,
  now: number,
): { ok: true; lease: Lease } | { ok: false; reason: LeaseRefusal } {
  const verified = verifyStatement('lease1', value, termsIn, expected, keyset)
  if (!verified.ok) return verified
  const { statement: lease } = verified
  return now > lease.expiresAt ? refused('over') : { ok: true, lease }
}

/** What only a lease says. Its fields are unambiguous in the signed string. */
function termsIn({ expiresAt, status, entitlements }: Record<string, unknown>) {
  if (!isSeconds(expiresAt) || !isField(status)) return undefined
  if (!Array.isArray(entitlements) || !entitlements.every(isEntitlement)) return undefined
  return { more: { expiresAt, status, entitlements }, signed: [expiresAt, status, entitlements.join(',')] }
}

const isEntitlement = (value: unknown): value is string =>
  typeof value === 'string' && entitlement.test(value)
