/**
 * Guarantee: an app reads the values of what its license grants from signed leases alone, also after a restart; what is not
 * granted has no value, and values of unknown kinds are ignored.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import {
  createClient,
  factsFrom,
  has,
  memoryStorage,
  newFacts,
  type State,
  stateOf,
  textOf,
  value,
} from '../../src/sdk/javascript/app/index.ts'
import { verifyProof } from '../../src/sdk/javascript/app/proof.ts'
import { takeProof } from '../../src/sdk/javascript/app/take.ts'
import { makeTenant, openTestApi, type TestApi, type TestTenant } from '../harness/api.ts'
import { sdkKeyOf } from '../http/apps.ts'
import { makeProduct, mint } from '../http/samples.ts'
import { fetchOf } from './asking.ts'

const granting = (entitlements: string[], values: Record<string, string | number>): State => ({
  status: 'licensed',
  by: 'lease',
  until: 1,
  licenseExpiresAt: null,
  clockSetBack: false,
  entitlements,
  values,
})

test.each<[what: string, state: State, has: boolean, value: unknown]>([
  ['a flag', granting(['it'], {}), true, true],
  ['a number', granting(['it'], { it: 25 }), true, 25],
  ['zero', granting(['it'], { it: 0 }), true, 0],
  ['text', granting(['it'], { it: '2027-11-21' }), true, '2027-11-21'],
  ['nothing', granting(['other'], { other: 1 }), false, undefined],
  ['a value without its name', granting([], { it: 1 }), false, undefined],
  ['a state that grants nothing', { status: 'unlicensed', clockSetBack: false }, false, undefined],
])('of %s', (_, state, granted, itsValue) => {
  expect(has(state, 'it')).toBe(granted)
  expect(value(state, 'it')).toBe(itsValue)
})

test('a name that every object has is an entitlement like any other', () => {
  expect(value(granting(['constructor'], {}), 'constructor')).toBe(true)
  expect(value(granting([], {}), 'constructor')).toBeUndefined()
})

const vectors = z
  .object({
    keyset: z.object({ keys: z.record(z.string(), z.string()) }),
    now: z.int(),
    tenantId: z.string(),
    productId: z.string(),
    licenseKey: z.string(),
    licenseKeyHash: z.string(),
    instanceId: z.string(),
    cases: z.array(
      z.object({
        name: z.string(),
        token: z.unknown(),
        entitlements: z.record(z.string(), z.unknown()).optional(),
      }),
    ),
  })
  .parse(
    JSON.parse(readFileSync(join(import.meta.dirname, '../../docs/reference/vectors/leases2.json'), 'utf8')),
  )
const { tenantId, productId, keyset, now, licenseKey: key, instanceId } = vectors
const place = { tenantId, productId }
const holder = { ...place, instanceId, licenseKeyHash: vectors.licenseKeyHash }

/** The storage of an app that holds the lease of a case. */
function storedWith(name: string): string {
  const token = vectors.cases.find((one) => one.name === name)?.token
  const found = verifyProof(token, holder, keyset.keys)
  if (!('proof' in found)) throw new Error(`the case ${name} is not valid: ${found.doubt}`)
  const { proof } = found
  return textOf({ ...newFacts('install', keyset.keys), license: { key, instanceId, proof, expiresAt: null } })
}
const stateIn = (text: string) => stateOf(factsFrom(text, place, {}), now)

test('values are read again from a stored lease', () => {
  const state = stateIn(storedWith('kinds of values'))
  expect(state).toMatchObject({ status: 'licensed' })
  const read = ['export', 'projects', 'rate', 'tier', 'updates'].map((name) => value(state, name))
  expect(read).toStrictEqual([true, 25, -0.5, 'gold', '2027-11-21'])
})

test('values of unknown kinds are ignored, and so is false', () => {
  const unknown = stateIn(storedWith('unknown kind of value'))
  expect(unknown).toMatchObject({ status: 'licensed', entitlements: ['export'], values: {} })
  const state = stateIn(storedWith('values'))
  expect(state).toMatchObject({ entitlements: ['seats', 'tier'], values: { seats: 5, tier: 'gold' } })
  expect(has(state, 'export')).toBe(false)
})

test('what stands beside a stored lease counts for nothing, and an edited lease grants nothing', () => {
  const stored = storedWith('kinds of values')
  const beside = stored.replaceAll('"projects":25', '"projects":99').replaceAll('"export"', '"all"')
  expect(beside).not.toBe(stored)
  expect(stateIn(beside)).toStrictEqual(stateIn(stored))
  const token = /v4\.public\.[\w.-]+/.exec(stored)?.[0] ?? ''
  for (let at = 0; at < token.length; at += 7) {
    const other = token[at] === 'A' ? 'B' : 'A'
    const edited = stored.replace(token, token.slice(0, at) + other + token.slice(at + 1))
    expect({ at, status: stateIn(edited).status }).toStrictEqual({ at, status: 'unlicensed' })
  }
})

let api: TestApi
let tenant: TestTenant
let sdkKey: string
beforeAll(async () => {
  api = await openTestApi()
  tenant = await makeTenant(api.ledger)
  await makeProduct(api.ask, tenant.token, 'editor', {
    keyTypes: [{ name: 'Pro', entitlements: ['export', 'projects'], entitlementValues: { projects: 25 } }],
  })
  sdkKey = await sdkKeyOf(api.ledger, tenant.tenantId)
})
afterAll(() => api.close())

const open = (storage = memoryStorage()) =>
  createClient({
    baseUrl: 'https://licenses.example.com',
    tenantId: tenant.tenantId,
    productId: 'editor',
    sdkKey,
    storage,
    clock: { now: () => api.ledger.clock.now().getTime(), after: () => () => undefined },
    fetch: fetchOf(api.ask),
  })

test('an app has the values of its license, follows their changes, and has none once it gives it up', async () => {
  const { licenseKey } = await mint(api.ask, tenant.token, 'editor')
  const storage = memoryStorage()
  const app = open(storage)
  expect(app.has('projects')).toBe(false)
  expect(await app.activate(licenseKey)).toMatchObject({ ok: true, state: { status: 'licensed' } })
  const read = (client: typeof app) =>
    ['export', 'projects', 'other'].map((name) => [client.has(name), client.value(name)])
  const before = [
    [true, true],
    [true, 25],
    [false, undefined],
  ]
  expect(read(app)).toStrictEqual(before)
  const restarted = open(storage)
  await restarted.start()
  restarted.stop()
  expect(read(restarted)).toStrictEqual(before)
  await api.ask('PATCH', '/v1/products/editor/key-types/pro', {
    token: tenant.token,
    body: { entitlements: ['projects'], entitlementValues: { projects: 'many' } },
  })
  api.ledger.clock.advance(1000)
  await app.validate()
  expect(read(app)).toStrictEqual([
    [false, undefined],
    [true, 'many'],
    [false, undefined],
  ])
  await app.deactivate()
  expect(app.value('projects')).toBeUndefined()
})

test('a lease of the first version, from a server that knows no other, grants names without values', () => {
  const first = z
    .object({
      keyset: z.object({ keys: z.record(z.string(), z.string()) }),
      now: z.int(),
      licenseKeyHash: z.string(),
      instanceId: z.string(),
      licenseKey: z.string(),
      cases: z.array(z.object({ valid: z.boolean(), lease: z.unknown() })),
    })
    .parse(
      JSON.parse(readFileSync(join(import.meta.dirname, '../../docs/reference/vectors/leases.json'), 'utf8')),
    )
  const { licenseKey: firstKey, instanceId: firstInstance } = first
  const lease = first.cases.find(({ valid }) => valid)?.lease
  const held = { key: firstKey, instanceId: firstInstance }
  const answer = { lease, license_expires_at: null, entitlement_values: { pro: 99 } }
  const taken = takeProof(newFacts('install', first.keyset.keys), answer, held, place, first.now)
  if (!('facts' in taken)) throw new Error(`it was not taken: ${taken.doubt}`)
  const state = stateOf(taken.facts, first.now)
  expect(state).toMatchObject({ status: 'licensed', values: {} })
  expect(value(state, 'pro')).toBe(true)
})
