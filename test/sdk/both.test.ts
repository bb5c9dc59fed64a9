/**
 * Guarantee: of a lease and a license file, the newer decides while it is good, and then the other; a newer statement that takes
 * the license away counts over a file; what an earlier version of the client has stored can be read.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { type Facts, factsFrom, newFacts, stateOf } from '../../src/sdk/javascript/app/index.ts'
import { newOfflineFacts } from '../../src/sdk/javascript/app/offline/facts.ts'
import type { LeaseOfToken } from '../../src/sdk/javascript/app/proof.ts'
import type { LeasedDevice } from '../../src/sdk/javascript/lease2.ts'

const now = 1_800_000_000
const mill: LeasedDevice = {
  machineHash: 'hash-of-the-mill',
  components: { board: 'board-of-the-mill', disk: 'disk-of-the-mill', os: 'system-of-the-mill' },
}
const other: LeasedDevice = {
  machineHash: 'hash-of-another',
  components: { board: 'another-board', disk: 'another-disk' },
}

const lease = (more: Partial<LeaseOfToken> = {}): LeaseOfToken => ({
  ...{ kid: 'k', token: 't', licenseId: 'lic_1', licenseKeyHash: 'h', instanceId: 'ins_1', device: mill },
  ...{ status: 'active', entitlements: ['online'], values: {}, issuedAt: now - 50, notBefore: 0 },
  ...{ expiresAt: now + 100, licenseExpiresAt: null, updatesUntil: null, holder: null },
  ...{ serial: 2, file: null, allowance: null, relay: null },
  ...more,
})
const file = (more: Partial<LeaseOfToken> = {}): LeaseOfToken =>
  lease({
    ...{ entitlements: ['carried'], issuedAt: now - 100, expiresAt: now + 1000, serial: 1 },
    ...{ file: { id: 'fil_1', nonce: 'n' }, ...more },
  })
const refusal = (reason: string, more: object = {}) => ({
  ...{ kid: 'k', licenseKeyHash: 'h', instanceId: 'ins_1', issuedAt: now - 50, signature: 's', reason },
  ...more,
})
const offline = newOfflineFacts()
const factsWith = (
  proof: NonNullable<Facts['license']>['proof'],
  carried: LeaseOfToken | undefined,
  more: object = {},
): Facts => ({
  ...newFacts('install'),
  license: proof && { key: 'K', instanceId: proof.instanceId, proof, expiresAt: null },
  offline: { ...offline, file: carried, ...more },
})
const list = { withdrawn: { token: 't', files: ['fil_1'], serial: 1, issuedAt: now - 10 } }

test.each<[what: string, facts: Facts, state: object]>([
  ['a newer lease that is good', factsWith(lease(), file()), { by: 'lease', until: now + 100 }],
  [
    'a newer file that is good',
    factsWith(lease({ issuedAt: now - 200 }), file()),
    { by: 'file', until: now + 1000 },
  ],
  [
    'a lease that has ended, a file that is good',
    factsWith(lease({ expiresAt: now - 1 }), file()),
    { by: 'file' },
  ],
  [
    'a newer file that has ended, a lease that is good',
    factsWith(lease({ issuedAt: now - 200 }), file({ expiresAt: now - 1 })),
    { by: 'lease' },
  ],
  [
    'both have ended: the newer says why',
    factsWith(lease({ expiresAt: now - 1 }), file({ expiresAt: now - 2 })),
    { status: 'expired', of: 'lease', at: now - 1, allowed: { entitlements: ['online'] } },
  ],
  [
    'a file alone that has ended names what it allowed',
    factsWith(undefined, file({ expiresAt: now - 2, values: { carried: 5 } })),
    { status: 'expired', of: 'file', allowed: { entitlements: ['carried'], values: { carried: 5 } } },
  ],
  ['a newer revocation', factsWith(refusal('revoked'), file()), { status: 'revoked', reason: 'revoked' }],
  [
    'a revocation before the file was made',
    factsWith(refusal('revoked', { issuedAt: now - 101 }), file()),
    { by: 'file' },
  ],
  [
    'a revocation of another license',
    factsWith(refusal('revoked', { licenseKeyHash: 'other' }), file()),
    { by: 'file' },
  ],
  [
    "the file's own seat was freed",
    factsWith(refusal('inactive'), file()),
    { status: 'revoked', reason: 'inactive' },
  ],
  [
    'another seat of the machine was freed',
    factsWith(refusal('inactive', { instanceId: 'ins_2' }), file()),
    { by: 'file' },
  ],
  [
    'a newer lease of a suspended license',
    factsWith(lease({ status: 'suspended' }), file()),
    { status: 'revoked', reason: 'suspended' },
  ],
  ['a newer lease of an expired license', factsWith(lease({ status: 'expired' }), file()), { of: 'license' }],
  ['a file that was given back', factsWith(undefined, file(), { released: 1 }), { status: 'unlicensed' }],
  ['a file that was given back, and a lease', factsWith(lease(), file(), { released: 1 }), { by: 'lease' }],
  ['a withdrawn file', factsWith(undefined, file(), list), { status: 'revoked', reason: 'withdrawn' }],
  [
    'a withdrawn file, and an older lease',
    factsWith(lease({ issuedAt: now - 200 }), file(), list),
    { by: 'lease' },
  ],
  [
    'a lease of another machine',
    factsWith(lease({ device: other }), undefined),
    { status: 'another_device' },
  ],
  ['a file of another machine', factsWith(undefined, file({ device: other })), { status: 'another_device' }],
  ['a lease of another machine, and a file', factsWith(lease({ device: other }), file()), { by: 'file' }],
  ['a lease that names no machine', factsWith(lease({ device: null }), undefined), { by: 'lease' }],
  [
    'a file that names no machine',
    factsWith(undefined, file({ device: null })),
    { status: 'another_device' },
  ],
])('%s', (_, facts, state) => {
  expect(stateOf(facts, now, { device: mill })).toMatchObject(state)
})

test.each<[what: string, device: LeasedDevice | undefined, of: 'lease' | 'another_device']>([
  ['says nothing of itself', undefined, 'lease'],
  ['has another disk', { ...mill, components: { ...mill.components, disk: 'a-new-disk' } }, 'lease'],
  ['has another system', { machineHash: 'x', components: { ...mill.components, os: 'new' } }, 'lease'],
  ['has another hash, and no components', { machineHash: 'x', components: {} }, 'another_device'],
  ['can be read only in part', { machineHash: null, components: { os: 'new' } }, 'lease'],
  ['has a hash alone, which is the same', { machineHash: mill.machineHash, components: {} }, 'lease'],
  ['has other parts', other, 'another_device'],
  ['has other parts, and no hash', { ...other, machineHash: null }, 'another_device'],
])('on a machine that %s, a lease is good or has to be asked for again', (_, device, of) => {
  const state = stateOf(factsWith(lease(), undefined), now, { device })
  expect(state).toMatchObject(of === 'lease' ? { by: 'lease' } : { status: of })
})

test('while a license goes on after its end, the state says until when', () => {
  const ended = lease({ licenseExpiresAt: now - 10 })
  const facts = factsWith(ended, undefined)
  expect(stateOf(facts, now - 11)).not.toHaveProperty('graceUntil')
  // The lease is from before the end: all that is known is that it goes on until its own.
  expect(stateOf(facts, now)).toMatchObject({ status: 'licensed', graceUntil: now + 100 })
  const license = { key: 'K', instanceId: 'ins_1', proof: ended, expiresAt: null, graceUntil: now + 5000 }
  expect(stateOf({ ...facts, license }, now)).toMatchObject({ until: now + 100, graceUntil: now + 5000 })
})

test('what was stored before there were files in the same text is read', () => {
  const vectors = z
    .looseObject({
      ...{ tenantId: z.string(), productId: z.string(), licenseKey: z.string(), instanceId: z.string() },
      keyset: z.object({ keys: z.record(z.string(), z.string()) }),
      now: z.int(),
      cases: z.array(z.looseObject({ name: z.string(), token: z.unknown() })),
    })
    .parse(
      JSON.parse(
        readFileSync(join(import.meta.dirname, '../../docs/reference/vectors/leases2.json'), 'utf8'),
      ),
    )
  const { tenantId, productId, licenseKey: key, instanceId, keyset } = vectors
  const token = vectors.cases.find(({ name }) => name === 'kinds of values')?.token
  const proof = {
    token,
    instanceId,
    issuedAt: 1,
    expiresAt: 2,
    status: 'active',
    entitlements: [],
    values: {},
  }
  const text = JSON.stringify({
    format: 1,
    installId: 'install',
    keys: keyset.keys,
    left: [],
    signedAt: vectors.now,
    seen: vectors.now,
    license: { key, instanceId, proof, expiresAt: null },
  })
  const facts = factsFrom(text, { tenantId, productId }, {})
  expect(stateOf(facts, vectors.now)).toMatchObject({ status: 'licensed', by: 'lease' })
})
