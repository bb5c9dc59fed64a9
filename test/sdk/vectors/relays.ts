import { type Case, instanceId, key, keyOf, keyset, licenseKeyHash, now, place, stranger } from './keys.ts'
import { time } from './leases2.ts'
import { signedToken } from './tokens.ts'

const relay = keyOf('c5aa8df43f9f837bedb7442f31dcb7b166d38535076f094b85ce3a2e0b4458f7')
const day = 86_400

/** What the tenant certifies of a license; a lease of the relay says the same and more. */
const certified = {
  iat: time(now - day),
  nbf: time(now - 2 * day),
  exp: time(now + 30 * day),
  serial: now - day,
  relay_id: 'rel_1',
  pk: Buffer.from(relay.publicKey, 'base64').toString('base64url'),
  license_id: 'lic_01k9m3v5q7e8ra9c1d3f5g7h9j',
  license_key_hash: licenseKeyHash,
  seats: 5,
  status: 'active',
  entitlements: { pro: true, projects: 10 },
  license_expires_at: null,
}
const { relay_id: _, pk: __, seats: ___, ...shared } = certified
const leased = {
  ...shared,
  iat: time(now),
  nbf: time(now - day),
  exp: time(now + 600),
  serial: now,
  instance_id: instanceId,
}

const assertion = (kind: string, { tenantId, productId } = place) =>
  `keyledger:${kind}:${tenantId}:${productId}`
const certificateOf = (
  more: object = {},
  { by = key, footer = { kid: key.kid } as object, in: at = place } = {},
) => signedToken({ ...certified, ...more }, JSON.stringify(footer), assertion('relay1', at), { by })
const leaseOf = (more: object = {}, under = certificateOf(), by = relay) =>
  signedToken({ ...leased, ...more }, JSON.stringify({ relay: under }), assertion('lease2'), { by })

/** Leases that a relay has signed, under a certificate of the tenant. */
export function relays() {
  const valid = (name: string, why: string, token: string): Case => ({ name, valid: true, why, token })
  const wrong = (name: string, reason: string, why: string, token: string): Case => ({
    name,
    valid: false,
    reason,
    why,
    token,
  })
  const beyond: [string, object][] = [
    ['another license', { license_id: 'lic_other' }],
    ['another license key', { license_key_hash: 'b'.repeat(64) }],
    ['another status', { status: 'fallback' }],
    ['an entitlement more', { entitlements: { pro: true, projects: 10, admin: true } }],
    ['a higher value', { entitlements: { projects: 11 } }],
    ['a value of another kind', { entitlements: { projects: '10' } }],
    ['a name that objects have', { entitlements: { constructor: true } }],
    ['no entitlements', { entitlements: undefined }],
    ['a later end than its certificate', { exp: time(now + 31 * day) }],
    ['another end of the license', { license_expires_at: time(now + day) }],
    ['updates that were not certified', { updates_until: time(now + day) }],
    ['a license file', { file: 'fil_1', nonce: 'n'.repeat(16) }],
    ['an allowance', { allowance: { id: 'alw_1', meter: 'calls', amount: '5', ends_at: time(now + 60) } }],
  ]
  const updates = { updates_until: time(now + day) }
  const own = signedToken(leased, JSON.stringify({ kid: key.kid }), assertion('lease2'))
  return {
    keyset,
    now,
    ...place,
    licenseKeyHash,
    instanceId,
    cases: [
      valid('within its certificate', 'the tenant signed the certificate, and its key the lease', leaseOf()),
      valid('fewer entitlements', 'a lease may say less', leaseOf({ entitlements: { pro: true } })),
      valid('the same end', 'the end of the certificate is within it', leaseOf({ exp: certified.exp })),
      valid('certified updates', 'the same as in the certificate', leaseOf(updates, certificateOf(updates))),
      valid('a lease of the server', 'it needs no certificate', own),
      ...beyond.map(([name, more]) =>
        wrong(`beyond: ${name}`, 'bad_signature', 'a lease says no more than its certificate', leaseOf(more)),
      ),
      wrong('over', 'over', 'now is after exp', leaseOf({ exp: time(now - 1) })),
      wrong('not yet', 'not_yet', 'now is before nbf', leaseOf({ nbf: time(now + 1) })),
      wrong(
        'another instance',
        'another_instance',
        'made for another instance',
        leaseOf({ instance_id: 'ins_other' }),
      ),
      wrong(
        'signed by another key',
        'bad_signature',
        'the certificate names another key',
        leaseOf({}, certificateOf(), stranger),
      ),
      wrong(
        'signed by the tenant',
        'bad_signature',
        'the certificate names the key of the relay',
        leaseOf({}, certificateOf(), key),
      ),
      wrong(
        'a certificate of an unknown key',
        'unknown_key',
        'the kid is not in the keyset',
        leaseOf({}, certificateOf({}, { by: stranger, footer: { kid: stranger.kid } })),
      ),
      wrong(
        'a forged certificate',
        'bad_signature',
        'signed by another key under a known kid',
        leaseOf({}, certificateOf({}, { by: stranger })),
      ),
      wrong(
        'a certificate of another product',
        'bad_signature',
        'signed for acme-player',
        leaseOf({}, certificateOf({}, { in: { ...place, productId: 'acme-player' } })),
      ),
      wrong(
        'a certificate by the relay itself',
        'bad_signature',
        'nobody certifies their own key',
        leaseOf({}, certificateOf({}, { by: relay })),
      ),
      wrong(
        'a chain of three',
        'malformed',
        'a certificate is signed by the tenant',
        leaseOf({}, certificateOf({}, { by: relay, footer: { relay: certificateOf() } })),
      ),
      wrong(
        'a certificate without a key',
        'malformed',
        'pk is missing',
        leaseOf({}, certificateOf({ pk: undefined })),
      ),
      wrong(
        'a certificate without a relay',
        'malformed',
        'relay_id is missing',
        leaseOf({}, certificateOf({ relay_id: undefined })),
      ),
      wrong('a lease as the certificate', 'bad_signature', 'it was signed as a lease', leaseOf({}, own)),
      wrong(
        'a certificate as the lease',
        'bad_signature',
        'it was signed as a certificate',
        certificateOf({ instance_id: instanceId }),
      ),
      wrong(
        'no certificate',
        'malformed',
        'the footer names nothing',
        signedToken(leased, '{}', assertion('lease2'), { by: relay }),
      ),
    ],
  }
}
