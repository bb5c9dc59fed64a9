/**
 * Guarantee: an app takes a lease of a relay only over a chain of exactly two signatures, the tenant's and the relay's, and only
 * for what the tenant has certified.
 */
import { expect, test } from 'vitest'
import { verifyLease2 } from '../../src/sdk/javascript/index.ts'
import { timeOf } from '../../src/signing/paseto.ts'
import { certified, createSigners, leased, place } from './signed-by-relay.ts'

const now = 1_800_000_000
const keyHash = 'a'.repeat(64)
const instanceId = 'ins_1'
const signers = createSigners()
const { keys, certificate, lease } = signers
const verified = (token: string, known = keys) =>
  verifyLease2(token, { ...place, licenseKeyHash: keyHash, instanceId }, { keys: known }, now)
const leaseOf = (more: object = {}, under = certificate(certified(now, keyHash))) =>
  lease(leased(now, keyHash, { instanceId, ...more }), under)

test('a lease within its certificate is good, and names its relay', () => {
  expect(verified(leaseOf())).toMatchObject({
    ok: true,
    lease: { relay: 'rel_1', status: 'active', entitlements: { pro: true, projects: 10 }, file: null },
  })
  expect(verified(leaseOf({ entitlements: { pro: true } }))).toMatchObject({ ok: true })
  expect(verified(signers.ownLease(leased(now, keyHash, { instanceId })))).toMatchObject({
    ok: true,
    lease: { relay: null },
  })
})

test.each<[string, object]>([
  ['another license', { license_id: 'lic_2' }],
  ['another license key', { license_key_hash: 'b'.repeat(64) }],
  ['another status', { status: 'fallback' }],
  ['an entitlement more', { entitlements: { pro: true, projects: 10, admin: true } }],
  ['a higher value', { entitlements: { projects: 11 } }],
  ['a name that every object has', { entitlements: { constructor: true } }],
  ['no entitlements', { entitlements: undefined }],
  ['an end after that of the certificate', { exp: timeOf(now + 31 * 86_400) }],
  ['another end of the license', { license_expires_at: timeOf(now + 86_400) }],
  ['updates that were not granted', { updates_until: timeOf(now + 86_400) }],
  ['an allowance', { allowance: { id: 'alw_1', meter: 'calls', amount: '5', ends_at: timeOf(now + 60) } }],
  ['a license file', { file: 'fil_1', nonce: 'n'.repeat(16) }],
])('a lease with %s is refused', (_, more) => {
  expect(verified(leaseOf(more))).toMatchObject({ ok: false, reason: 'bad_signature' })
})

test('a lease that leaves out the end of its updates is refused', () => {
  const under = certificate(certified(now, keyHash, { updates_until: timeOf(now - 86_400) }))
  expect(verified(leaseOf({}, under))).toMatchObject({ ok: false, reason: 'bad_signature' })
})

test('who signs counts: no other relay, no certificate of another product, none that a relay has signed', () => {
  const other = createSigners()
  const own = certificate(certified(now, keyHash))
  const claims = leased(now, keyHash, { instanceId })
  expect(verified(other.lease(claims, own))).toMatchObject({ reason: 'bad_signature' })
  expect(verified(other.lease(claims, other.certificate(certified(now, keyHash))))).toMatchObject({
    reason: 'unknown_key',
  })
  const elsewhere = createSigners({ ...place, productId: 'viewer' })
  const foreign = elsewhere.lease(claims, elsewhere.certificate(certified(now, keyHash)))
  expect(verified(foreign, elsewhere.keys)).toMatchObject({ reason: 'bad_signature' })
  const byRelay = certificate(certified(now, keyHash), { by: signers.relayKey })
  expect(verified(leaseOf({}, byRelay))).toMatchObject({ reason: 'bad_signature' })
  const chained = certificate(certified(now, keyHash), { by: signers.relayKey, footer: { relay: own } })
  expect(verified(leaseOf({}, chained))).toMatchObject({ reason: 'malformed' })
  expect(verified(leaseOf({}, 'v4.public.e30.e30'))).toMatchObject({ ok: false })
})

test('a certificate is no lease, and a lease no certificate', () => {
  expect(verified(certificate(certified(now, keyHash, { instance_id: instanceId })))).toMatchObject({
    reason: 'bad_signature',
  })
  const asCertificate = signers.ownLease({ ...certified(now, keyHash), relay_id: 'rel_1' })
  expect(verified(leaseOf({}, asCertificate))).toMatchObject({ reason: 'bad_signature' })
})

test('a lease that is over is over, whatever its certificate says', () => {
  expect(verified(leaseOf({ exp: timeOf(now - 1) }))).toMatchObject({ reason: 'over' })
})
