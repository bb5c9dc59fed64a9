import { isRecord, type Keyset, ownIn, type Place } from './keyset.ts'
import { decoded, parseToken, readSigned, readStatement, type Token, type TokenDoubt } from './paseto.ts'

type Claims = Record<string, unknown>

/**
 * Reads a lease that a relay has signed, over a chain of exactly two: the tenant's key signed the certificate in the footer, and
 * the certified key signed the lease. A lease that says more than its certificate is refused like one with a wrong signature.
 * @param assertion of the lease
 * @param certificate as the footer has it
 * @returns why it cannot be used, or its claims, with the key of the certificate and the id of the relay
 */
export function readOfRelay(
  token: Token,
  assertion: string,
  certificate: unknown,
  { tenantId, productId }: Place,
  keyset: Keyset,
): { kid: string; relay: string; claims: Claims } | TokenDoubt {
  const asserted = `keyledger:relay1:${tenantId}:${productId}`
  const certified = readStatement(parseToken(certificate), asserted, keyset)
  if (typeof certified === 'string') return certified
  const { kid, claims: allowed } = certified
  const { pk, relay_id: relay } = allowed
  if (typeof pk !== 'string' || typeof relay !== 'string') return 'malformed'
  const claims = readSigned(token, assertion, decoded(pk))
  if (typeof claims === 'string') return claims
  return isWithin(claims, allowed) ? { kid, relay, claims } : 'bad_signature'
}

/** What a lease has to have in common with its certificate; what is absent in one is absent in the other. */
const shared = ['license_id', 'license_key_hash', 'status', 'license_expires_at', 'updates_until'] as const

function isWithin(lease: Claims, certificate: Claims): boolean {
  const [granted, allowed] = [lease.entitlements, certificate.entitlements]
  return (
    shared.every((name) => lease[name] === certificate[name]) &&
    isRecord(granted) &&
    isRecord(allowed) &&
    Object.entries(granted).every(([name, value]) => ownIn(allowed, name) === value) &&
    // RFC 3339 in UTC and whole seconds sorts as text; any other spelling is refused with the lease itself.
    isText(lease.exp) &&
    isText(certificate.exp) &&
    lease.exp <= certificate.exp &&
    // A relay gives no license files: how many there are is decided on the license.
    lease.file === undefined &&
    // Nor allowances: the vendor's server counts what is used.
    lease.allowance === undefined
  )
}

const isText = (value: unknown): value is string => typeof value === 'string'
