import { verifyText } from './ed25519.ts'
import { isField, isRecord, isSeconds, type Keyset, keyIn, type Place } from './keyset.ts'

/**
 * The expected holder: the hash of the license key by {@link import('./license-key.ts').licenseKeyHash}, and the
 * instance.
 */
export type Holder = { licenseKeyHash: string; instanceId: string }

/** What a lease and a refusal have in common. */
type Statement = Holder & { kid: string; issuedAt: number; signature: string }

/** Why a statement must not be believed. After `unknown_key`, fetch the keyset again. */
export type StatementDoubt =
  | 'malformed'
  | 'another_license'
  | 'another_instance'
  | 'unknown_key'
  | 'bad_signature'

export const refused = <Reason extends string>(reason: Reason): { ok: false; reason: Reason } => ({
  ok: false,
  reason,
})

/**
 * Verifies a statement about a license on an instance: its key is known, its fields are the signed ones, and it was made for
 * this tenant, product, license key and instance.
 * @param kind what the signed string begins with
 * @param moreIn the fields that only this kind has, and what of them is signed, in this order; undefined for malformed ones
 */
export function verifyStatement<More extends object>(
  kind: string,
  value: unknown,
  moreIn: (
    value: Record<string, unknown>,
  ) => { more: More; signed: readonly (string | number)[] } | undefined,
  { tenantId, productId, ...holder }: Place & Holder,
  keyset: Keyset,
): { ok: true; statement: Statement & More } | { ok: false; reason: StatementDoubt } {
  if (!isRecord(value)) return refused('malformed')
  const { kid, licenseKeyHash, instanceId, issuedAt, signature } = value
  const found = moreIn(value)
  if (!isField(kid) || !isField(licenseKeyHash) || !isField(instanceId)) return refused('malformed')
  if (!isSeconds(issuedAt) || typeof signature !== 'string' || !found) return refused('malformed')
  if (licenseKeyHash !== holder.licenseKeyHash) return refused('another_license')
  if (instanceId !== holder.instanceId) return refused('another_instance')
  const publicKey = keyIn(keyset, kid)
  if (publicKey === undefined) return refused('unknown_key')
  const text = [kind, kid, tenantId, productId, licenseKeyHash, instanceId, issuedAt, ...found.signed].join(
    '|',
  )
  if (!verifyText(text, signature, publicKey)) return refused('bad_signature')
  return { ok: true, statement: { kid, licenseKeyHash, instanceId, issuedAt, ...found.more, signature } }
}
