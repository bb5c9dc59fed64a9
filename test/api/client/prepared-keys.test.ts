/**
 * Guarantee: the next signing key can be published any time before it signs, for apps that ship with the public keys; whatever
 * is killed on the way, the published key is the one that then signs.
 */
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { z } from 'zod'
import { prepareSigningKey, rotateSigningKey } from '../../../src/commands/signing-keys.ts'
import type { AllPorts } from '../../../src/ports.ts'
import { makeTenant, openTestApi, type TestApi, type TestTenant } from '../../harness/api.ts'
import { origin } from '../../harness/ledger.ts'
import { type App, appOf, sdkKeyOf } from '../../http/apps.ts'
import { makeProduct, mint } from '../../http/samples.ts'

let api: TestApi
let tenant: TestTenant
let app: App
let licenseKey: string
beforeAll(async () => {
  api = await openTestApi()
})
beforeEach(async () => {
  tenant = await makeTenant(api.ledger)
  await makeProduct(api.ask, tenant.token, 'editor')
  app = appOf(api.ask, { ...tenant, productId: 'editor' }, await sdkKeyOf(api.ledger, tenant.tenantId))
  licenseKey = (await mint(api.ask, tenant.token, 'editor')).licenseKey
})
afterAll(() => api.close())

const Keys = z.object({ keys: z.record(z.string(), z.string()) })
const published = async () => {
  const { body } = await api.ask('GET', `/${tenant.tenantId}/.well-known/service-keys`)
  return Object.keys(Keys.parse(body).keys)
}
const Activated = z.looseObject({ lease: z.looseObject({ kid: z.string() }) })
/** The key that a new lease is signed with. */
const signer = async (): Promise<string> => {
  const answer = await app.post('activate', { license_key: licenseKey, instance_name: 'laptop' })
  return Activated.parse(answer.body).lease.kid
}
const prepare = (ports: AllPorts = api.ledger.ports) => prepareSigningKey(ports, tenant.tenantId, origin)
const rotate = (ports: AllPorts = api.ledger.ports) => rotateSigningKey(ports, tenant.tenantId, origin)
const seeds = async () => {
  const { rows } = await api.ledger.db.query<{ name: string }>(
    "select name from vault.secrets where tenant_id = $1 and name like 'signing-key.%' order by name",
    [tenant.tenantId],
  )
  return rows.map(({ name }) => name)
}

test('a prepared key is in the keyset for as long as its vendor wants, and then signs at once', async () => {
  const first = await signer()
  await prepare()
  await prepare()
  const [, next = '', ...others] = await published()
  expect(others).toStrictEqual([])
  api.ledger.clock.advance(30 * 86_400_000)
  expect(await signer()).toBe(first)
  await rotate()
  expect(await signer()).toBe(next)
  expect(await published()).toStrictEqual([first, next])
})

test('a key that is rotated in a moment after it was prepared signs once every kept keyset has it', async () => {
  const first = await signer()
  await prepare()
  const [, next] = await published()
  api.ledger.clock.advance(60_000)
  await rotate()
  api.ledger.clock.advance(239_999)
  expect(await signer()).toBe(first)
  api.ledger.clock.advance(1)
  expect(await signer()).toBe(next)
})

test('a key that is prepared before there is any is the first one, and signs the first lease', async () => {
  await prepare()
  const [only, ...others] = await published()
  expect(others).toStrictEqual([])
  expect(await signer()).toBe(only)
  expect(await published()).toStrictEqual([only])
})

/** Dies after the decision, before the event is appended. */
const dyingBefore = (ports: AllPorts): AllPorts => ({
  ...ports,
  execute: (decider, id, command, cause, options) =>
    ports.execute(decider, id, command, cause, {
      ...options,
      admit: () => {
        throw new Error('killed')
      },
    }),
})

test('killed before the event, a preparation is repeated with the same seed', async () => {
  const { ports } = api.ledger
  await signer()
  await expect(prepare(dyingBefore(ports))).rejects.toThrow('killed')
  expect(await seeds()).toStrictEqual(['signing-key.1', 'signing-key.2'])
  expect(await published()).toHaveLength(1)
  await prepare()
  const [, next] = await published()
  expect(await seeds()).toStrictEqual(['signing-key.1', 'signing-key.2'])
  api.ledger.clock.advance(300_000)
  await rotate()
  expect(await signer()).toBe(next)
})

test('killed before the event, a rotation leaves the key prepared, and the next one lets it sign', async () => {
  const first = await signer()
  await prepare()
  const [, next] = await published()
  api.ledger.clock.advance(300_000)
  await expect(rotate(dyingBefore(api.ledger.ports))).rejects.toThrow('killed')
  expect(await signer()).toBe(first)
  await rotate()
  expect(await signer()).toBe(next)
})

test('killed before it destroys the former seeds, a rotation is done; the next one destroys them', async () => {
  const { ports } = api.ledger
  await signer()
  await prepare()
  api.ledger.clock.advance(300_000)
  await rotate()
  await prepare()
  api.ledger.clock.advance(300_000)
  const destroy = () => Promise.reject(new Error('killed'))
  await expect(rotate({ ...ports, secrets: { ...ports.secrets, destroy } })).rejects.toThrow('killed')
  const [, , third] = await published()
  expect(await signer()).toBe(third)
  expect(await seeds()).toStrictEqual(['signing-key.1', 'signing-key.2', 'signing-key.3'])
  api.ledger.clock.advance(60_000)
  await rotate()
  expect(await seeds()).toStrictEqual(['signing-key.3', 'signing-key.4'])
})

test('preparations at the same time publish one key', async () => {
  await signer()
  await Promise.all([prepare(), prepare(), prepare()])
  expect(await published()).toHaveLength(2)
})
