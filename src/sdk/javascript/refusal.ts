import { isField, type Keyset, type Place } from './keyset.ts'
import { type Holder, type StatementDoubt, verifyStatement } from './statement.ts'

/** A license that refuses this instance: the proof beside a refused validate. */
export type Refusal = {
  kid: string
  licenseKeyHash: string
  instanceId: string
  issuedAt: number
  /** `revoked`, `reminted` or `inactive`: the device was deactivated. */
  reason: string
  signature: string
}

export type RefusalDoubt = StatementDoubt

/**
 * Verifies a refusal: its key is known, its fields are the signed ones, and it was made for this tenant, product,
 * license key and instance. It has no end: a newer lease replaces it.
 */
export function verifyRefusal(
  value: unknown,
  expected: Place & Holder,
  keyset: Keyset,
): { ok: true; refusal: Refusal } | { ok: false; reason: RefusalDoubt } {
  const verified = verifyStatement('refusal1', value, reasonIn, expected, keyset)
  return verified.ok ? { ok: true, refusal: verified.statement } : verified
}

const reasonIn = ({ reason }: Record<string, unknown>) =>
  isField(reason) ? { more: { reason }, signed: [reason] } : undefined
