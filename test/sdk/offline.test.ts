/**
 * An app that has only the SDK and the keyset takes every good answer, and refuses each of them with any one byte of
 * what was signed changed, for another tenant or product, under an unknown key, and past its end. The SDK shares no code
 * with what signs.
 */
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import { type Keyset, licenseKeyHash, verifyLease, verifySettings } from '../../src/sdk/javascript/index.ts'
import { makeTenant, openTestApi, type TestApi, type TestTenant } from '../harness/api.ts'
import { wholeVariable } from '../harness/variables.ts'
import { type App, appOf, sdkKeyOf } from '../http/apps.ts'
import { makeProduct, mint } from '../http/samples.ts'

const runs = wholeVariable('KEYLEDGER_TEST_OFFLINE', 6)

let api: TestApi
let tenant: TestTenant
let sdkKey: string
beforeAll(async () => {
  api = await openTestApi()
  tenant = await makeTenant(api.ledger)
  sdkKey = await sdkKeyOf(api.ledger, tenant.tenantId)
})
afterAll(() => api.close())

const vendorsChoice = fc.record({
  trialDurationDays: fc.constantFrom(0, 1, 14, 365),
  freeTierEnabled: fc.boolean(),
  leaseSeconds: fc.constantFrom(60, 604_800, 31_536_000),
  entitlements: fc.uniqueArray(fc.stringMatching(/^[a-z0-9][a-z0-9._:-]{0,9}$/), { maxLength: 3 }),
  name: fc.string({ minLength: 1, maxLength: 20 }).filter((name) => !name.includes('\0')),
  later: fc.integer({ min: 0, max: 200_000 }),
})

const Answer = z.looseObject({ lease: z.record(z.string(), z.unknown()) })
type Fields = Record<string, unknown>

let made = 0
async function ask(
  choice: { entitlements: string[]; name: string; later: number; leaseSeconds: number } & object,
) {
  const { entitlements, name, later, leaseSeconds, ...settings } = choice
  const { tenantId, token } = tenant
  const productId = `product-${made++}`
  await makeProduct(api.ask, token, productId, { ...settings, keyTypes: [{ name: 'Only', entitlements }] })
  await api.ask('PATCH', `/v1/products/${productId}`, { token, body: { leaseSeconds } })
  const { licenseKey } = await mint(api.ask, token, productId)
  const app: App = appOf(api.ask, { tenantId, productId }, sdkKey)
  const activated = await app.post('activate', { license_key: licenseKey, instance_name: name })
  const { instance_id: instanceId } = z.object({ instance_id: z.string() }).parse(activated.body)
  api.ledger.clock.advance(later * 1000)
  const answers = [
    Answer.parse((await app.post('validate', { license_key: licenseKey, instance_id: instanceId })).body),
  ]
  if (later <= leaseSeconds) answers.push({ ...answers[0], ...Answer.parse(activated.body) })
  const keyset = (await api.ask('GET', `/${tenantId}/.well-known/service-keys`)).body as Keyset
  const holder = { licenseKeyHash: licenseKeyHash(licenseKey), instanceId }
  return {
    answers,
    keyset,
    place: { tenantId, productId },
    holder,
    now: api.ledger.clock.now().getTime() / 1000,
  }
}

/** The same with one byte, or one step of a number, changed in one of these fields. */
function* changed(fields: Fields, names: readonly string[]): Generator<Fields> {
  for (const name of names) {
    const value = fields[name]
    for (const other of othersThan(value)) yield { ...fields, [name]: other }
  }
}

function* othersThan(value: unknown): Generator {
  if (typeof value === 'number') yield* [value + 1, value - 1, String(value), value + 0.5]
  else if (typeof value === 'boolean') yield !value
  else if (typeof value === 'string') {
    for (let at = 0; at < value.length; at++) {
      const other = value[at] === 'A' ? 'B' : 'A'
      yield value.slice(0, at) + other + value.slice(at + 1)
    }
    yield* ['', `${value}|`, `${value} `]
  } else if (Array.isArray(value)) {
    const list: unknown[] = value
    yield [...list, 'more']
    if (list.length > 0) yield list.slice(1)
    if (list.length > 1) yield [list.join(',')]
    for (const [at, entry] of list.entries()) {
      for (const other of othersThan(entry)) yield list.with(at, other)
    }
  }
}

test(
  'good answers are taken, and none that was changed',
  async () => {
    await fc.assert(
      fc.asyncProperty(vendorsChoice, async (choice) => {
        const { answers, keyset, place, holder, now } = await ask(choice)
        for (const answer of answers) settingsHold(answer, choice.trialDurationDays, keyset, place, now)
        for (const { lease } of answers) leaseHolds(lease, keyset, { ...place, ...holder }, now)
      }),
      { numRuns: runs },
    )
  },
  30_000 + runs * 5000,
)

type Place = { tenantId: string; productId: string }

function settingsHold(answer: Fields, days: number, keyset: Keyset, place: Place, now: number): void {
  const ok = (given: unknown, at = now, where = place, keys = keyset) =>
    verifySettings(given, where, keys, at).ok
  expect(verifySettings(answer, place, keyset, now)).toMatchObject({
    ok: true,
    settings: { trialDurationDays: days },
  })
  const end = Number(answer.expires_at)
  expect([ok(answer, end), ok(answer, end + 1)]).toStrictEqual([true, false])
  expect(ok(answer, now, { ...place, tenantId: 'another' })).toBe(false)
  expect(ok(answer, now, { ...place, productId: 'another' })).toBe(false)
  expect(ok(answer, now, place, { keys: {} })).toBe(false)
  const signed = ['trial_duration_days', 'free_tier_enabled', 'kid', 'issued_at', 'expires_at', 'signature']
  for (const other of changed(answer, signed)) expect({ other, ok: ok(other) }).toMatchObject({ ok: false })
  for (const name of ['kid', 'issued_at', 'expires_at', 'signature']) {
    const { [name]: _, ...rest } = answer
    expect({ name, ok: ok(rest) }).toStrictEqual({ name, ok: false })
  }
  // The trial length is gone, and something is left of what vouched for it.
  const { trial_duration_days: _, ...stripped } = answer
  const rests = ['kid', 'issued_at', 'expires_at', 'signature']
  for (let kept = 1; kept < 2 ** rests.length; kept++) {
    const gone = rests.filter((_name, bit) => (kept & (1 << bit)) === 0)
    const partly = Object.fromEntries(Object.entries(stripped).filter(([name]) => !gone.includes(name)))
    expect({ gone, said: verifySettings(partly, place, keyset, now) }).toStrictEqual({
      gone,
      said: { ok: false, reason: 'malformed' },
    })
  }
  const unsigned = { free_tier_enabled: answer.free_tier_enabled }
  expect(verifySettings(unsigned, place, keyset, now)).toStrictEqual({
    ok: true,
    settings: { freeTierEnabled: answer.free_tier_enabled },
  })
  const enforced = { enforce: true }
  expect(verifySettings(unsigned, place, keyset, now, enforced)).toStrictEqual({
    ok: false,
    reason: 'unsigned',
  })
  expect(verifySettings(answer, place, keyset, now, enforced).ok).toBe(true)
}

function leaseHolds(
  lease: Fields,
  keyset: Keyset,
  expected: Place & { licenseKeyHash: string; instanceId: string },
  now: number,
): void {
  const ok = (given: unknown, at = now, who = expected, keys = keyset) => verifyLease(given, who, keys, at).ok
  expect(verifyLease(lease, expected, keyset, now)).toStrictEqual({ ok: true, lease })
  const end = Number(lease.expiresAt)
  expect([ok(lease, end), ok(lease, end + 1)]).toStrictEqual([true, false])
  for (const name of Object.keys(expected)) {
    expect({ name, ok: ok(lease, now, { ...expected, [name]: 'another' }) }).toStrictEqual({
      name,
      ok: false,
    })
  }
  expect(ok(lease, now, expected, { keys: {} })).toBe(false)
  for (const other of changed(lease, Object.keys(lease))) {
    expect({ other, ok: ok(other) }).toMatchObject({ ok: false })
  }
}

test('what is no answer at all is refused, and nothing is thrown', () => {
  const place = { tenantId: 'acme', productId: 'editor' }
  const holder = { licenseKeyHash: '', instanceId: '' }
  fc.assert(
    fc.property(fc.anything(), fc.object(), (value, keys) => {
      const keyset = { keys: keys as Keyset['keys'] }
      expect(verifyLease(value, { ...place, ...holder }, keyset, 0).ok).toBe(false)
      const settings = verifySettings(value, place, keyset, 0)
      if (settings.ok) expect(settings.settings).not.toHaveProperty('trialDurationDays')
    }),
  )
})
