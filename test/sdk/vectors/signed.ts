import {
  type Case,
  instanceId,
  key,
  keyset,
  licenseKey,
  licenseKeyHash,
  now,
  place,
  sha256,
  signed,
  stranger,
} from './keys.ts'

const leaseFields = {
  kid: key.kid,
  licenseKeyHash,
  instanceId,
  issuedAt: now - 6400,
  expiresAt: now + 598_400,
  status: 'active',
  entitlements: ['export', 'pro'],
}
const leaseText = (fields: typeof leaseFields, { tenantId, productId } = place) =>
  `lease1|${fields.kid}|${tenantId}|${productId}|${fields.licenseKeyHash}|${fields.instanceId}|${fields.issuedAt}|${fields.expiresAt}|${fields.status}|${fields.entitlements.join(',')}`
export const leaseOf = (change: Partial<typeof leaseFields> = {}, by = key) => {
  const fields = { ...leaseFields, ...change }
  return { ...fields, signature: signed(leaseText(fields), by) }
}
const goodLease = leaseOf()
const otherPlace = { ...place, productId: 'acme-player' }

export function leases() {
  const text = leaseText(leaseFields)
  const cases: Case[] = [
    { name: 'active', valid: true, why: 'everything is as it was signed', lease: goodLease, text },
    {
      name: 'no entitlements',
      valid: true,
      why: 'the last field of the text is empty',
      lease: leaseOf({ entitlements: [] }),
    },
    {
      name: 'fallback',
      valid: true,
      why: 'a lease with another status verifies alike',
      lease: leaseOf({ status: 'fallback', entitlements: ['basic'] }),
    },
    {
      name: 'in its last second',
      valid: true,
      why: 'the end itself is within the lease',
      lease: leaseOf({ expiresAt: now }),
    },
    {
      name: 'over',
      valid: false,
      reason: 'over',
      why: 'now is after expiresAt',
      lease: leaseOf({ expiresAt: now - 1 }),
    },
    {
      name: 'later end',
      valid: false,
      reason: 'bad_signature',
      why: 'expiresAt was changed',
      lease: { ...goodLease, expiresAt: goodLease.expiresAt + 1 },
    },
    {
      name: 'another status',
      valid: false,
      reason: 'bad_signature',
      why: 'status was changed',
      lease: { ...goodLease, status: 'fallback' },
    },
    {
      name: 'one more entitlement',
      valid: false,
      reason: 'bad_signature',
      why: 'entitlements were changed',
      lease: { ...goodLease, entitlements: ['export', 'pro', 'team'] },
    },
    {
      name: 'other order',
      valid: false,
      reason: 'bad_signature',
      why: 'entitlements are signed in sorted order',
      lease: { ...goodLease, entitlements: ['pro', 'export'] },
    },
    {
      name: 'joined entitlements',
      valid: false,
      reason: 'malformed',
      why: 'an entitlement holds a comma, so the text would be the same',
      lease: { ...goodLease, entitlements: ['export,pro'] },
    },
    {
      name: 'separator in a field',
      valid: false,
      reason: 'malformed',
      why: 'a field holds a |',
      lease: { ...goodLease, status: 'active|export' },
    },
    {
      name: 'another device',
      valid: false,
      reason: 'another_instance',
      why: 'a lease of another device was copied',
      lease: leaseOf({ instanceId: 'ins_01k9m3v5q7e8ra9c1d3f5g7h9k' }),
    },
    {
      name: 'another license',
      valid: false,
      reason: 'another_license',
      why: 'the hash is that of another key',
      lease: leaseOf({ licenseKeyHash: sha256('OTHER') }),
    },
    {
      name: 'another product',
      valid: false,
      reason: 'bad_signature',
      why: 'signed for acme-player',
      lease: { ...leaseFields, signature: signed(leaseText(leaseFields, otherPlace)) },
    },
    {
      name: 'unknown key',
      valid: false,
      reason: 'unknown_key',
      why: 'the kid is not in the keyset',
      lease: leaseOf({ kid: stranger.kid }, stranger),
    },
    {
      name: 'forged kid',
      valid: false,
      reason: 'bad_signature',
      why: 'signed by another key under a known kid',
      lease: leaseOf({}, stranger),
    },
    {
      name: 'other base64',
      valid: false,
      reason: 'bad_signature',
      why: 'the padding of the signature is missing',
      lease: { ...goodLease, signature: goodLease.signature.replace(/=+$/, '') },
    },
    {
      name: 'seconds as text',
      valid: false,
      reason: 'malformed',
      why: 'expiresAt is a string',
      lease: { ...goodLease, expiresAt: String(goodLease.expiresAt) },
    },
  ]
  return { keyset, now, ...place, licenseKey, licenseKeyHash, instanceId, cases }
}

export function refusalOf(change: object = {}, by = key) {
  const fields = { kid: key.kid, licenseKeyHash, instanceId, issuedAt: now, reason: 'revoked', ...change }
  const { tenantId, productId } = place
  const text = `refusal1|${fields.kid}|${tenantId}|${productId}|${fields.licenseKeyHash}|${fields.instanceId}|${fields.issuedAt}|${fields.reason}`
  return { ...fields, signature: signed(text, by) }
}

export function refusals() {
  const of = refusalOf
  const good = of()
  const cases: Case[] = [
    { name: 'revoked', valid: true, why: 'everything is as it was signed', refusal: good },
    { name: 'inactive', valid: true, why: 'the device was deactivated', refusal: of({ reason: 'inactive' }) },
    {
      name: 'another reason',
      valid: false,
      reason: 'bad_signature',
      why: 'reason was changed',
      refusal: { ...good, reason: 'inactive' },
    },
    {
      name: 'another time',
      valid: false,
      reason: 'bad_signature',
      why: 'issuedAt was changed',
      refusal: { ...good, issuedAt: now + 1 },
    },
    {
      name: 'another device',
      valid: false,
      reason: 'another_instance',
      why: 'made for another device',
      refusal: of({ instanceId: 'ins_x' }),
    },
    {
      name: 'unknown key',
      valid: false,
      reason: 'unknown_key',
      why: 'the kid is not in the keyset',
      refusal: of({ kid: stranger.kid }, stranger),
    },
    {
      name: 'a lease',
      valid: false,
      reason: 'malformed',
      why: 'a lease is not a refusal',
      refusal: goodLease,
    },
  ]
  return { keyset, now, ...place, licenseKey, licenseKeyHash, instanceId, cases }
}

const settingsFields = {
  trial_duration_days: 14,
  free_tier_enabled: false,
  kid: key.kid,
  issued_at: now - 6400,
  expires_at: now + 80_000,
}

export function settingsOf(change: Partial<typeof settingsFields> = {}, by = key) {
  const all = { ...settingsFields, ...change }
  const text = `cfg1|${all.kid}|${place.tenantId}|${place.productId}|${all.issued_at}|${all.expires_at}|${all.trial_duration_days}|${all.free_tier_enabled}`
  return { ...all, signature: signed(text, by) }
}

export function settings() {
  const of = settingsOf
  const good = of()
  const { signature: _, ...unsigned } = good
  const { trial_duration_days: __, ...stripped } = good
  const cases: Case[] = [
    { name: 'a trial of 14 days', valid: true, why: 'everything is as it was signed', settings: good },
    {
      name: 'trials are off',
      valid: true,
      why: '0 is a length, and not the same as none',
      settings: of({ trial_duration_days: 0 }),
    },
    {
      name: 'unsigned',
      valid: true,
      why: 'without a trial length nothing is signed',
      settings: { free_tier_enabled: true },
    },
    {
      name: 'unsigned, enforced',
      valid: false,
      reason: 'unsigned',
      why: 'the app refuses unsigned settings',
      enforce: true,
      settings: { free_tier_enabled: true },
    },
    {
      name: 'longer trial',
      valid: false,
      reason: 'bad_signature',
      why: 'the length was changed',
      settings: { ...good, trial_duration_days: 15 },
    },
    {
      name: 'free tier turned on',
      valid: false,
      reason: 'bad_signature',
      why: 'free_tier_enabled was changed',
      settings: { ...good, free_tier_enabled: true },
    },
    {
      name: 'signature removed',
      valid: false,
      reason: 'unsigned',
      why: 'a trial length needs a signature',
      settings: unsigned,
    },
    {
      name: 'length removed',
      valid: false,
      reason: 'malformed',
      why: 'parts of a signature are left without a length',
      settings: stripped,
    },
    {
      name: 'over',
      valid: false,
      reason: 'over',
      why: 'now is after expires_at',
      settings: of({ expires_at: now - 1 }),
    },
    {
      name: 'unknown key',
      valid: false,
      reason: 'unknown_key',
      why: 'the kid is not in the keyset',
      settings: of({ kid: stranger.kid }, stranger),
    },
  ]
  return { keyset, now, ...place, cases }
}
