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
  stranger,
} from './keys.ts'
import { tokenOf } from './tokens.ts'

export const time = (seconds: number) => new Date(seconds * 1000).toISOString().replace('.000Z', 'Z')
const hash = (what: string) => Buffer.from(sha256(what), 'hex').toString('base64url')

/** What the machine is that the cases are checked on. */
export const device = {
  machineHash: hash('machine'),
  components: { board: hash('board'), disk: hash('disk'), mac: hash('mac') },
}

export const claims = {
  iat: time(now - 6400),
  nbf: time(now - 92_800),
  exp: time(now + 598_400),
  serial: (now - 6400) * 1_000_000,
  license_id: 'lic_01k9m3v5q7e8ra9c1d3f5g7h9j',
  license_key_hash: licenseKeyHash,
  instance_id: instanceId,
  device: { machine_hash: device.machineHash, components: device.components },
  status: 'active',
  entitlements: { export: true, pro: true },
  license_expires_at: null,
}

const good = tokenOf(claims)
const [, , goodBody = '', goodFooter = ''] = good.split('.')

/** The same token with one byte of its message changed. */
function altered(): string {
  const bytes = Buffer.from(goodBody, 'base64url')
  bytes.write('fallback', bytes.indexOf('"active"') + 1)
  return `v4.public.${bytes.toString('base64url')}.${goodFooter}`
}

const valid = (name: string, why: string, message: object, more: object = {}): Case => ({
  name,
  valid: true,
  why,
  token: tokenOf(message),
  ...more,
})
const wrong = (name: string, reason: string, why: string, token: unknown): Case => ({
  name,
  valid: false,
  reason,
  why,
  token,
})

const { device: _, ...withoutDevice } = claims
const { exp: __, ...withoutEnd } = claims
const otherParts = { board: hash('x'), disk: hash('y'), mac: hash('mac') }

const ofEveryKind = { export: true, projects: 25, rate: -0.5, tier: 'gold', updates: '2027-11-21' }

export function leases2() {
  const cases: Case[] = [
    { name: 'active', valid: true, why: 'everything is as it was signed', token: good, claims },
    valid('values', 'entitlements have values', {
      ...claims,
      entitlements: { seats: 5, tier: 'gold', export: false },
    }),
    valid(
      'kinds of values',
      'a value is true, a number or text; a date is text',
      { ...claims, entitlements: ofEveryKind },
      { entitlements: ofEveryKind },
    ),
    valid(
      'unknown kind of value',
      'an entitlement is ignored whose value is of another kind',
      { ...claims, entitlements: { export: true, limits: { projects: 25 }, list: [1], nothing: null } },
      { entitlements: { export: true } },
    ),
    valid('unknown claim', 'claims that a verifier does not know are ignored', { ...claims, color: 'blue' }),
    valid('any device', 'the app said nothing of its machine', withoutDevice),
    valid('another machine hash', 'most of the components are equal', {
      ...claims,
      device: { machine_hash: hash('reinstalled'), components: { ...device.components, disk: hash('new') } },
    }),
    valid('fallback', 'a lease with another status verifies alike', { ...claims, status: 'fallback' }),
    valid('with an end of the license', 'the license ends after the lease', {
      ...claims,
      license_expires_at: time(now + 10_000_000),
    }),
    valid('with an end of the updates', 'builds are covered until then', {
      ...claims,
      updates_until: time(now - 1_000_000),
    }),
    valid('in its last second', 'the end itself is within the lease', { ...claims, exp: time(now) }),
    valid('in its first second', 'the beginning itself is within the lease', { ...claims, nbf: time(now) }),
    wrong('over', 'over', 'now is after exp', tokenOf({ ...claims, exp: time(now - 1) })),
    wrong(
      'not yet',
      'not_yet',
      'now is before nbf: the clock was set back',
      tokenOf({ ...claims, nbf: time(now + 1) }),
    ),
    wrong('altered', 'bad_signature', 'a byte of the message was changed', altered()),
    wrong(
      'another product',
      'bad_signature',
      'signed for acme-player',
      tokenOf(claims, { in: { ...place, productId: 'acme-player' } }),
    ),
    wrong(
      'another tenant',
      'bad_signature',
      'signed for umbrella',
      tokenOf(claims, { in: { ...place, tenantId: 'umbrella' } }),
    ),
    wrong('unknown key', 'unknown_key', 'the kid is not in the keyset', tokenOf(claims, { by: stranger })),
    wrong(
      'forged kid',
      'bad_signature',
      'signed by another key under a known kid',
      tokenOf(claims, { by: stranger, kid: key.kid }),
    ),
    wrong(
      'another footer',
      'unknown_key',
      'the footer was exchanged',
      `v4.public.${goodBody}.${Buffer.from('{"kid":"x"}').toString('base64url')}`,
    ),
    wrong('no footer', 'malformed', 'the footer is missing', `v4.public.${goodBody}`),
    wrong('trailing bytes', 'malformed', 'something follows the footer', `${good}.AAAA`),
    wrong('padded', 'malformed', 'base64url has no padding', `${good}==`),
    wrong(
      'other base64',
      'malformed',
      'the last character has bits that are none of the bytes',
      otherSpelling(),
    ),
    wrong('too short', 'malformed', 'there is no room for a signature', `v4.public.AAAA.${goodFooter}`),
    wrong('another version', 'malformed', 'signed as v3.public', tokenOf(claims, { kind: 'v3.public.' })),
    wrong(
      'another purpose',
      'malformed',
      'a local token is encrypted, not signed',
      tokenOf(claims, { kind: 'v4.local.' }),
    ),
    wrong('an object', 'malformed', 'a lease of the first version', { kid: key.kid }),
    wrong(
      'another license',
      'another_license',
      'the hash is that of another key',
      tokenOf({ ...claims, license_key_hash: sha256('OTHER') }),
    ),
    wrong(
      'another instance',
      'another_instance',
      'made for another instance',
      tokenOf({ ...claims, instance_id: 'ins_01k9m3v5q7e8ra9c1d3f5g7h9k' }),
    ),
    wrong(
      'another device',
      'another_device',
      'the file was copied to another machine: one component of three is equal',
      tokenOf({ ...claims, device: { machine_hash: hash('other'), components: otherParts } }),
    ),
    wrong('no end', 'malformed', 'exp is missing', tokenOf(withoutEnd)),
    wrong('seconds', 'malformed', 'times are texts as in RFC 3339', tokenOf({ ...claims, exp: now + 1000 })),
    wrong(
      'updates in seconds',
      'malformed',
      'the end of the updates is a text as well',
      tokenOf({ ...claims, updates_until: now - 1_000_000 }),
    ),
    wrong('no JSON', 'malformed', 'the message is no JSON object', tokenOf('lease')),
  ]
  return { keyset, now, ...place, licenseKey, licenseKeyHash, instanceId, device, cases }
}

/** The footer in another spelling: bits beyond its last byte are set. */
function otherSpelling(): string {
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
  const last = alphabet.indexOf(goodFooter.at(-1) ?? '')
  return `v4.public.${goodBody}.${goodFooter.slice(0, -1)}${alphabet[last + 1] ?? ''}`
}
