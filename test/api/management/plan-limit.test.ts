/**
 * Guarantee: commands that add to a limited count run one at a time per tenant: everything recorded counts,
 * commands that add nothing do not wait, and unused capacity is available to the next.
 */
import type { PoolClient } from 'pg'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { z } from 'zod'
import { createProduct } from '../../../src/commands/products.ts'
import { newLicenseKey } from '../../../src/credentials/license-key.ts'
import { defaultKeyType } from '../../../src/domain/products/key-type.ts'
import type { AllPorts } from '../../../src/ports.ts'
import { makeTenant, openTestApi, type TestApi, type TestTenant } from '../../harness/api.ts'
import { origin } from '../../harness/ledger.ts'
import { importRows, makeProduct, mint } from '../../http/samples.ts'

let api: TestApi
let tenant: TestTenant
beforeAll(async () => {
  api = await openTestApi()
})
beforeEach(async () => {
  tenant = await makeTenant(api.ledger, 'free')
  const keyTypes = [
    { name: 'Any', deviceLimit: null },
    { name: 'One', deviceLimit: 1 },
  ]
  await makeProduct(api.ask, tenant.token, 'editor', { keyTypes })
})
afterAll(() => api.close())

const activate = async (licenseKey: string, deviceId: string) => {
  const body = { product_id: 'editor', license_key: licenseKey, device_id: deviceId }
  return (await api.ask('POST', '/v1/licenses/activate', { token: tenant.token, body })).body
}

const Activated = z.object({ activated: z.literal(true) })

/** A license with this many devices, from `device-0` on. */
async function seated(count: number): Promise<string> {
  const { licenseKey } = newLicenseKey('ACME', api.ledger.ports.randomBytes)
  const devices = Array.from({ length: count }, (_, at) => ({
    deviceId: `device-${at}`,
    name: `Device ${at}`,
  }))
  await importRows(api.ask, tenant.token, 'editor', [{ licenseKey, devices }])
  return licenseKey
}

/** Runs work while another process holds the tenant's lock. */
async function whileAnotherHasIt<T>(
  what: string,
  work: (end: () => Promise<void>) => Promise<T>,
): Promise<T> {
  const client: PoolClient = await api.ledger.db.connect()
  const lock = [`${what} ${tenant.tenantId}`]
  await client.query('select pg_advisory_lock(hashtextextended($1, 0))', lock)
  const end = async () => void (await client.query('select pg_advisory_unlock_all()'))
  try {
    return await work(end)
  } finally {
    await end()
    client.release()
  }
}

test('an activation does not wait when its device has a seat or its license has none free', async () => {
  const full = await seated(1)
  const { licenseKey } = await mint(api.ask, tenant.token, 'editor', { keyTypeId: 'one' })
  await activate(licenseKey, 'device-0')
  await whileAnotherHasIt('activeDevices', async (end) => {
    expect(await activate(full, 'device-0')).toMatchObject({ activated: true })
    expect(await activate(licenseKey, 'device-1')).toMatchObject({ status: 'seat_limit_reached' })
    let isOver = false
    const waiting = activate(full, 'another').then((answer) => ({ answer, isOver }))
    // A command that does not wait has answered by now.
    expect(await activate(full, 'device-0')).toMatchObject({ activated: true })
    isOver = true
    await end()
    expect(await waiting).toMatchObject({ answer: { activated: true }, isOver: true })
  })
})

test('recorded events count before the read models show them', async () => {
  const { ports } = api.ledger
  const unseen: AllPorts = {
    ...ports,
    execute: (decider, id, command, cause, options) =>
      ports.execute(decider, id, command, cause, { ...options, waits: false }),
  }
  const asked = (productId: string) => ({
    tenantId: tenant.tenantId,
    plan: 'free' as const,
    productId,
    name: 'App',
    keyPrefix: 'APP',
    settings: {},
    keyTypes: [defaultKeyType],
  })
  await createProduct(unseen, asked('second'), origin).catch(() => undefined)
  await createProduct(unseen, asked('third'), origin).catch(() => undefined)
  await expect(createProduct(ports, asked('fourth'), origin)).rejects.toMatchObject({
    code: 'product_limit_reached',
  })
})

test('a request repeated with its idempotency key succeeds although the plan is full by then', async () => {
  await makeProduct(api.ask, tenant.token, 'second')
  const create = (productId: string, key: string) =>
    api.ask('POST', '/v1/products', {
      token: tenant.token,
      body: { name: 'App', productId },
      headers: { 'idempotency-key': key },
    })
  expect((await create('third', 'creation-1')).status).toBe(201)
  // Simulates that the first request was killed before its response was stored.
  await api.ledger.db.query(
    "update vault.idempotency set reply = null, leased_until = '2000-01-01' where tenant_id = $1",
    [tenant.tenantId],
  )
  expect((await create('third', 'creation-1')).status).toBe(201)
  expect((await create('fourth', 'creation-2')).status).toBe(402)
})

test('capacity that a refused request does not use is available to the next', async () => {
  await seated(98)
  const { licenseKey } = await mint(api.ask, tenant.token, 'editor', { keyTypeId: 'one' })
  const others = await Promise.all(
    Array.from({ length: 4 }, () => mint(api.ask, tenant.token, 'editor', { keyTypeId: 'any' })),
  )
  // Two for the only seat of the first license, and more than the plan allows.
  const answers = await Promise.all([
    activate(licenseKey, 'a'),
    activate(licenseKey, 'b'),
    ...others.map((other) => activate(other.licenseKey, 'c')),
  ])
  expect(answers.filter((answer) => Activated.safeParse(answer).success)).toHaveLength(2)
})

test('a plan without limits takes no lock', async () => {
  tenant = await makeTenant(api.ledger)
  await makeProduct(api.ask, tenant.token, 'editor', { keyTypes: [{ name: 'Any', deviceLimit: null }] })
  const { licenseKey } = await mint(api.ask, tenant.token, 'editor')
  await whileAnotherHasIt('activeDevices', async () => {
    expect(await activate(licenseKey, 'device-0')).toMatchObject({ activated: true })
  })
})
