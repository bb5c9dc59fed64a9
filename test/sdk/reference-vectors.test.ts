/**
 * Guarantee: the published test vectors are what the SDK says of them, and what implementations that are not ours say:
 * Node's Ed25519 for signatures, the package standardwebhooks for webhooks.
 */
import { createHash, createPublicKey, verify } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Webhook } from 'standardwebhooks'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { isKeyOf } from '../../src/sdk/javascript/app/calls.ts'
import { newFacts } from '../../src/sdk/javascript/app/index.ts'
import { newOfflineFacts } from '../../src/sdk/javascript/app/offline/facts.ts'
import { takeCarried } from '../../src/sdk/javascript/app/offline/take.ts'
import {
  isMintedKey,
  licenseKeyHash,
  normaliseLicenseKey,
  verifyLease,
  verifyLease2,
  verifyRefusal,
  verifySettings,
} from '../../src/sdk/javascript/index.ts'
import { verifyWebhook } from '../../src/sdk/javascript/server/index.ts'
import { vectorFiles } from './vectors/main.ts'

const directory = join(import.meta.dirname, '../../docs/reference/vectors')
const read = (name: string): unknown => JSON.parse(readFileSync(join(directory, name), 'utf8'))

const Case = z.looseObject({
  name: z.string(),
  valid: z.boolean(),
  reason: z.string().optional(),
  why: z.string(),
})
const Signed = z.looseObject({
  keyset: z.object({ keys: z.record(z.string(), z.string()) }),
  now: z.int(),
  tenantId: z.string(),
  productId: z.string(),
  licenseKeyHash: z.string().default(''),
  instanceId: z.string().default(''),
  cases: z.array(Case),
})
const device = z.object({ machineHash: z.string(), components: z.record(z.string(), z.string()) })
const expectedOf = ({ valid, reason }: z.infer<typeof Case>) => (valid ? { ok: true } : { ok: false, reason })

test.each(Object.entries(vectorFiles()))('%s is what node test/sdk/vectors/main.ts writes', (name, text) => {
  expect(read(name)).toStrictEqual(JSON.parse(text))
})

const leases = Signed.parse(read('leases.json'))
test.each(leases.cases.map((one) => [one.name, one] as const))('lease: %s', (_, one) => {
  expect(verifyLease(one.lease, leases, leases.keyset, leases.now)).toMatchObject(expectedOf(one))
})

const leases2 = Signed.extend({ device }).parse(read('leases2.json'))
test.each(leases2.cases.map((one) => [one.name, one] as const))(
  'lease of the second version: %s',
  (_, one) => {
    const found = verifyLease2(one.token, leases2, leases2.keyset, leases2.now)
    expect(found).toMatchObject(expectedOf(one))
    if (one.entitlements) expect(found.ok && found.lease.entitlements).toStrictEqual(one.entitlements)
  },
)

const relays = Signed.parse(read('relays.json'))
test.each(relays.cases.map((one) => [one.name, one] as const))('lease of a relay: %s', (_, one) => {
  expect(verifyLease2(one.token, relays, relays.keyset, relays.now)).toMatchObject(expectedOf(one))
})

const files = Signed.extend({ device, nonce: z.string(), releasedSerial: z.int() }).parse(
  read('license-files.json'),
)
test.each(files.cases.map((one) => [one.name, one] as const))('license file: %s', (_, one) => {
  const { tenantId, productId, keyset, now, nonce, licenseKeyHash, releasedSerial: released } = files
  const offline = { ...newOfflineFacts(), asked: { nonce, licenseKeyHash }, released }
  const facts = { ...newFacts('install', keyset.keys), offline }
  const to = { place: { tenantId, productId }, device: files.device }
  expect(takeCarried(facts, String(one.token), to, now)).toMatchObject(
    one.valid ? { as: 'fresh' } : { doubt: one.reason },
  )
})

const refusals = Signed.parse(read('refusals.json'))
test.each(refusals.cases.map((one) => [one.name, one] as const))('refusal: %s', (_, one) => {
  expect(verifyRefusal(one.refusal, refusals, refusals.keyset)).toMatchObject(expectedOf(one))
})

const settings = Signed.parse(read('settings.json'))
test.each(settings.cases.map((one) => [one.name, one] as const))('settings: %s', (_, one) => {
  const { keyset, now } = settings
  const found = verifySettings(one.settings, settings, keyset, now, { enforce: one.enforce === true })
  expect(found).toMatchObject(expectedOf(one))
})

const KeyCases = z.object({
  cases: z.array(z.looseObject({ valid: z.boolean(), kid: z.string(), publicKey: z.unknown() })),
})
test('keys: a kid is the hash of its key', () => {
  for (const { valid, kid, publicKey } of KeyCases.parse(read('keys.json')).cases) {
    const raw = Buffer.from(String(publicKey), 'base64')
    const hash = createHash('sha256').update(raw).digest('hex').slice(0, 16)
    expect(raw.length === 32 && hash === kid).toBe(valid)
    expect(isKeyOf(kid, publicKey)).toBe(valid)
  }
})

const LicenseKeys = z.object({
  cases: z.array(
    z.object({ typed: z.string(), normalized: z.string(), hash: z.string(), valid: z.boolean() }).loose(),
  ),
})
const alphabet = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'
test('license keys: normalized, hashed, and checked by Luhn mod 32', () => {
  for (const { typed, normalized, hash, valid } of LicenseKeys.parse(read('license-keys.json')).cases) {
    expect(normaliseLicenseKey(typed)).toBe(normalized)
    expect(licenseKeyHash(typed)).toBe(hash)
    expect(isMintedKey(typed)).toBe(valid)
    expect(createHash('sha256').update(normalized).digest('hex')).toBe(hash)
    const body = /^[A-Z0-9]{2,8}?([0-9A-HJKMNP-TV-Z]{26})$/.exec(normalized)?.[1] ?? 'U'
    const values = [...body]
      .reverse()
      .map((character, at) => alphabet.indexOf(character) * (at % 2 === 0 ? 1 : 2))
    const sum = values.reduce((total, value) => total + Math.floor(value / 32) + (value % 32), 0)
    expect(body !== 'U' && sum % 32 === 0).toBe(valid)
  }
})

const Webhooks = z.object({
  secret: z.string(),
  now: z.int(),
  toleranceSeconds: z.int(),
  cases: z.array(Case.extend({ headers: z.record(z.string(), z.string()), body: z.string() })),
})
const webhooks = Webhooks.parse(read('webhooks.json'))
test.each(webhooks.cases.map((one) => [one.name, one] as const))(
  'webhook: %s',
  async (_, { headers, body, ...one }) => {
    const { secret, now, toleranceSeconds } = webhooks
    for (const given of [headers, new Headers(headers)]) {
      const verified = verifyWebhook(secret, { headers: given, body }, { now: now * 1000, toleranceSeconds })
      if (one.valid) expect(await verified).toMatchObject({ event: 'license.created' })
      else await expect(verified).rejects.toMatchObject({ reason: one.reason })
    }
  },
)

test('webhooks: standardwebhooks agrees wherever its headers are there, apart from the time', () => {
  const { secret, now, cases } = webhooks
  for (const { name, headers, body, valid, reason } of cases) {
    if (headers['webhook-signature'] === undefined || reason === 'timestamp') continue
    // It takes the time from the machine, so the headers are taken at theirs.
    const at = Number(headers['webhook-timestamp'])
    const sent = { ...headers }
    const library = new Webhook(secret)
    const signatures = library.sign(headers['webhook-id'] ?? '', new Date(at * 1000), body)
    expect({ name, same: sent['webhook-signature']?.split(' ').includes(signatures), now }).toStrictEqual({
      name,
      same: valid,
      now,
    })
  }
})

test('leases: Node verifies the signature of each valid one over the text of the documentation', () => {
  const { keyset, tenantId, productId, cases } = leases
  const Lease = z.object({
    ...{ kid: z.string(), licenseKeyHash: z.string(), instanceId: z.string(), status: z.string() },
    ...{ issuedAt: z.int(), expiresAt: z.int(), entitlements: z.array(z.string()), signature: z.string() },
  })
  for (const one of cases.filter(({ valid }) => valid)) {
    const { kid, signature, ...rest } = Lease.parse(one.lease)
    const text = ['lease1', kid, tenantId, productId, rest.licenseKeyHash, rest.instanceId]
      .concat(String(rest.issuedAt), String(rest.expiresAt), rest.status, rest.entitlements.join(','))
      .join('|')
    if (one.text !== undefined) expect(one.text).toBe(text)
    const raw = Buffer.from(keyset.keys[kid] ?? '', 'base64')
    const spki = Buffer.concat([Buffer.from('302a300506032b6570032100', 'hex'), raw])
    const publicKey = createPublicKey({ key: spki, format: 'der', type: 'spki' })
    expect(verify(null, Buffer.from(text), publicKey, Buffer.from(signature, 'base64'))).toBe(true)
  }
})
