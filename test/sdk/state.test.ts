/** Guarantee: the state of an app follows from what it has stored and the time alone, and every state can occur. */
import { sign } from 'node:crypto'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { factsFrom, newFacts, type State, stateOf, textOf } from '../../src/sdk/javascript/app/index.ts'
import { licenseKeyHash } from '../../src/sdk/javascript/index.ts'
import { keyPairOf } from '../../src/signing/signer.ts'

const day = 86_400
const now = 1_800_000_000
const license = { key: 'ACME-1', instanceId: 'ins_1', expiresAt: null }
const lease = {
  kid: 'k',
  licenseKeyHash: 'h',
  instanceId: 'ins_1',
  issuedAt: now - 100,
  expiresAt: now + 100,
  status: 'active',
  entitlements: ['pro'],
  signature: 's',
}
const refusal = { ...lease, reason: 'revoked' }
const empty = newFacts('install')
const free = { freeTierEnabled: true, issuedAt: 0, expiresAt: 0 }
const trialOf = (trialDurationDays: number) => ({
  freeTierEnabled: false,
  trialDurationDays,
  issuedAt: 1,
  expiresAt: 2,
})
const trial = { startedAt: now - day, used: false, reported: true }
const granted = { by: 'lease', until: now + 100, entitlements: ['pro'], values: {}, licenseExpiresAt: null }
const held = (proof: object) => ({ ...empty, license: { ...license, proof: { ...lease, ...proof } } })

test.each<[string, ReturnType<typeof newFacts> | undefined, object]>([
  ['nothing was read yet', undefined, { status: 'starting' }],
  ['nothing is known', empty, { status: 'unlicensed' }],
  ['a trial can be started', { ...empty, settings: trialOf(14) }, { status: 'unlicensed', trialDays: 14 }],
  ['trials are off', { ...empty, settings: trialOf(0) }, { status: 'unlicensed' }],
  ['there is a free tier', { ...empty, settings: free }, { status: 'free' }],
  ['a trial runs', { ...empty, settings: trialOf(2), trial }, { status: 'trial', until: now + day }],
  [
    'a trial is over in the second of its end',
    { ...empty, settings: trialOf(1), trial },
    { status: 'expired', of: 'trial', at: now, freeTier: false },
  ],
  [
    'a trial is over, and the free tier is left',
    { ...empty, settings: { ...trialOf(1), ...free }, trial },
    { status: 'free' },
  ],
  [
    'another install has used the trial of the machine',
    { ...empty, settings: trialOf(14), trial: { ...trial, used: true } },
    { status: 'expired', of: 'trial', at: now + 13 * day, freeTier: false },
  ],
  ['a lease is good', held({}), { status: 'licensed', ...granted }],
  ['a lease is in its last second', held({ expiresAt: now }), { status: 'licensed', ...granted, until: now }],
  [
    'a lease is over',
    held({ expiresAt: now - 1 }),
    {
      status: 'expired',
      of: 'lease',
      at: now - 1,
      allowed: { entitlements: ['pro'], values: {} },
      freeTier: false,
    },
  ],
  ['a license has fallen back', held({ status: 'fallback' }), { status: 'fallback', ...granted }],
  [
    'a license has expired, and there is a free tier',
    { ...held({ status: 'expired', expiresAt: now - 5 }), settings: free },
    { status: 'expired', of: 'license', at: now - 5, freeTier: true },
  ],
  [
    'a license is suspended',
    held({ status: 'suspended' }),
    { status: 'revoked', reason: 'suspended', at: now - 100, freeTier: false },
  ],
  [
    'a status of a newer server',
    held({ status: 'paused' }),
    { status: 'revoked', reason: 'revoked', at: now - 100, freeTier: false },
  ],
  [
    'the device was deactivated',
    { ...empty, license: { ...license, proof: { ...refusal, reason: 'inactive' } } },
    { status: 'revoked', reason: 'inactive', at: now - 100, freeTier: false },
  ],
])('%s', (_, facts, state) => {
  expect(stateOf(facts, now)).toStrictEqual({ ...state, clockSetBack: false })
})

test('while the server is not reached, a good lease is called offline, and nothing else changes', () => {
  expect(stateOf(held({}), now, { failing: true })).toStrictEqual({
    status: 'offline',
    license: 'licensed',
    ...granted,
    clockSetBack: false,
  })
  expect(stateOf(held({ expiresAt: now - 1 }), now, { failing: true })).toStrictEqual(
    stateOf(held({ expiresAt: now - 1 }), now),
  )
})

test('a clock that is set back brings nothing back, and the app can show it', () => {
  const seen = { ...held({}), seen: now + 101 }
  expect(stateOf(seen, now)).toMatchObject({ status: 'expired', of: 'lease', clockSetBack: false })
  expect(stateOf(seen, now - 1000)).toMatchObject({ status: 'expired', of: 'lease', clockSetBack: true })
  const running = { ...empty, settings: trialOf(2), trial, seen: now + day }
  expect(stateOf(running, now)).toMatchObject({ status: 'expired', of: 'trial', clockSetBack: true })
})

test('time never makes a state more generous', () => {
  const rank: Record<State['status'], number> = {
    ...{ licensed: 5, offline: 5, fallback: 4, trial: 3, free: 2 },
    ...{ unlicensed: 1, starting: 1, expired: 0, revoked: 0, not_covered: 0, another_device: 0 },
  }
  const facts = fc.constantFrom(
    ...[
      held({}),
      held({ status: 'fallback' }),
      held({ status: 'expired' }),
      { ...empty, settings: trialOf(3), trial },
    ],
  )
  const moment = fc.integer({ min: now - 5 * day, max: now + 5 * day })
  fc.assert(
    fc.property(facts, moment, moment, fc.boolean(), (one, first, second, failing) => {
      const early = stateOf(one, Math.min(first, second), { failing })
      const late = stateOf({ ...one, seen: Math.min(first, second) }, Math.max(first, second), { failing })
      expect(rank[late.status]).toBeLessThanOrEqual(rank[early.status])
    }),
  )
})

const place = { tenantId: 'acme', productId: 'editor' }
const { privateKey, publicKey, kid } = keyPairOf(Buffer.alloc(32, 7).toString('base64'))

test('what is stored is verified again: every change of a signed field drops it', () => {
  const hash = licenseKeyHash('ACME-1')
  const text = `lease1|${kid}|acme|editor|${hash}|ins_1|${now}|${now + day}|active|pro`
  const signature = sign(null, Buffer.from(text), privateKey).toString('base64')
  const signed = { ...lease, kid, licenseKeyHash: hash, issuedAt: now, expiresAt: now + day, signature }
  const facts = { ...empty, keys: { [kid]: publicKey }, license: { ...license, proof: signed } }
  const stored = textOf(facts)
  const statusOf = (edited: string) => stateOf(factsFrom(edited, place, {}) ?? newFacts('new'), now).status
  expect(statusOf(stored)).toBe('licensed')
  const edits = [
    [`"expiresAt":${now + day}`, `"expiresAt":${now + 2 * day}`],
    [`"issuedAt":${now}`, `"issuedAt":${now + 1}`],
    ['"pro"', '"all"'],
    ['"key":"ACME-1"', '"key":"ACME-2"'],
    [kid, kid.replace(/^./, (digit) => (digit === '0' ? '1' : '0'))],
    ['{"format":1', '{"format":2'],
    ['"signedAt":0', '"signedAt":"0"'],
  ]
  for (const [from = '', to = ''] of edits) {
    const edited = stored.replaceAll(from, to)
    expect({ from, same: edited === stored, status: statusOf(edited) }).toStrictEqual({
      from,
      same: false,
      status: 'unlicensed',
    })
  }
})

test('any text in the storage is read without an error', () => {
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string(),
        fc.json(),
        fc.anything().map((value) => JSON.stringify({ format: 1, value })),
      ),
      (text) => {
        const facts = factsFrom(text, place, {})
        if (facts) expect(stateOf(facts, now).status).not.toBe('licensed')
      },
    ),
  )
})
