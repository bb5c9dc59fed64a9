/**
 * Guarantee: a floating seat is its device's only until its end. From then on it is another's, and no call of the first device,
 * however late, keeps it alive or gives it back.
 */
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { countSeatedDevices } from '../../../projections/licenses/active-devices.ts'
import { planLimits } from '../../../src/domain/tenants/tenant.ts'
import { makeTenant } from '../../harness/api.ts'
import { makeProduct, mint } from '../../http/samples.ts'
import { floating, floatingShop, Seat } from './floating-shop.ts'

const { activate, api, call, deactivate, make, runOut, take, tenant, validate } = floatingShop()

describe('an app', () => {
  test('takes a seat, keeps it, and finds it full for others until the limit with its overdraft', async () => {
    const { licenseKey } = await make('over')
    const first = await take(licenseKey, 'a')
    expect(first.seat).toMatchObject({ id: first.instance_id, fence: 1 })
    const again = await validate(licenseKey, first.instance_id, { fence: 1 })
    expect(again).toMatchObject({ status: 200, body: { valid: true, seat: { fence: 1 } } })
    expect((await take(licenseKey, 'b')).seat.fence).toBe(2)
    expect(await activate(licenseKey, 'c')).toMatchObject({
      status: 422,
      body: { reason: 'seat_limit_reached' },
    })
  })

  test('loses a seat whose end has passed to the next device, and cannot touch it', async () => {
    const { id, licenseKey } = await make('one')
    const old = await take(licenseKey, 'a')
    await runOut(id)
    const next = await take(licenseKey, 'b')
    expect(next.seat.fence).toBe(2)
    for (const fence of [{}, { fence: 1 }])
      expect(await validate(licenseKey, old.instance_id, fence)).toMatchObject({
        status: 422,
        body: { reason: 'seat_lost' },
      })
    expect(await validate(licenseKey, next.instance_id, { fence: 1 })).toMatchObject({
      body: { reason: 'seat_lost' },
    })
    expect((await deactivate(licenseKey, next.instance_id, { fence: 1 })).status).toBe(422)
    expect(await validate(licenseKey, next.instance_id, { fence: 2 })).toMatchObject({ status: 200 })
    expect((await deactivate(licenseKey, next.instance_id, { fence: 2 })).status).toBe(200)
    expect((await take(licenseKey, 'a')).seat.fence).toBe(3)
  })

  test('cannot revive its seat after its end, and takes one again with a higher fence', async () => {
    const { id, licenseKey } = await make('one')
    const old = await take(licenseKey, 'a')
    await runOut(id)
    expect(await validate(licenseKey, old.instance_id)).toMatchObject({ body: { reason: 'seat_lost' } })
    const again = await take(licenseKey, 'a')
    expect(again.seat.fence).toBe(2)
    expect(await validate(licenseKey, again.instance_id, { fence: 2 })).toMatchObject({ status: 200 })
  })

  test('shares the seat of its user, who must be named', async () => {
    const { licenseKey } = await make('users')
    expect((await activate(licenseKey, 'a')).status).toBe(422)
    const laptop = await take(licenseKey, 'laptop', { user_id: 'ada@example.com' })
    const desktop = await take(licenseKey, 'desktop', { user_id: 'ada@example.com' })
    expect(desktop.seat).toMatchObject({ id: laptop.instance_id, fence: 1 })
    expect(await activate(licenseKey, 'laptop', { user_id: 'bob@example.com' })).toMatchObject({
      body: { reason: 'seat_limit_reached' },
    })
  })

  test('has a seat for each process of one machine', async () => {
    const { licenseKey } = await make('farm')
    const first = await take(licenseKey, 'node')
    const second = await take(licenseKey, 'node')
    expect(second.instance_id).not.toBe(first.instance_id)
    expect((await activate(licenseKey, 'node')).status).toBe(422)
  })

  test('gets a lease that ends with its seat', async () => {
    const { licenseKey } = await make('one')
    const { lease, seat } = z
      .looseObject({ lease: z.looseObject({ expiresAt: z.int() }), seat: Seat })
      .parse((await activate(licenseKey, 'a')).body)
    expect(lease.expiresAt).toBe(seat.ends_at)
  })

  test('sees nothing of this on a license whose devices keep their seats', async () => {
    const { licenseKey } = await make('kept')
    const { body } = await activate(licenseKey, 'a')
    expect(body).not.toHaveProperty('seat')
    const { instance_id: instanceId } = z.looseObject({ instance_id: z.string() }).parse(body)
    expect((await validate(licenseKey, instanceId, { fence: 9 })).body).not.toHaveProperty('seat')
    expect((await deactivate(licenseKey, instanceId, { fence: 9 })).status).toBe(200)
  })
})

describe('a server', () => {
  test('takes, keeps and gives back a seat of its device', async () => {
    const { licenseKey } = await make('one')
    expect(await call('activate', licenseKey, 'a')).toMatchObject({
      body: { activated: true, status: 'active', seat: { id: 'a', fence: 1 } },
    })
    expect(await call('validate', licenseKey, 'a', { fence: 1 })).toMatchObject({
      body: { valid: true, seat: { id: 'a', fence: 1 } },
    })
    expect(await call('activate', licenseKey, 'b')).toMatchObject({
      body: { activated: false, status: 'seat_limit_reached' },
    })
    expect(await call('deactivate', licenseKey, 'a', { fence: 1 })).toMatchObject({
      body: { deactivated: true },
    })
    expect(await call('activate', licenseKey, 'b')).toMatchObject({ body: { seat: { id: 'b', fence: 2 } } })
  })

  test('gets `inactive` with the reason for a seat that is lost, and cannot give back the one after it', async () => {
    const { id, licenseKey } = await make('one')
    const lost = { valid: false, status: 'inactive', reason: 'seat_lost', entitlements: [] }
    await call('activate', licenseKey, 'a')
    await runOut(id)
    expect(await call('validate', licenseKey, 'a')).toMatchObject({ body: lost })
    expect(await call('activate', licenseKey, 'b')).toMatchObject({ body: { seat: { fence: 2 } } })
    expect(await call('validate', licenseKey, 'a', { fence: 1 })).toMatchObject({ body: lost })
    await runOut(id)
    expect(await call('activate', licenseKey, 'a')).toMatchObject({ body: { seat: { fence: 3 } } })
    expect(await call('validate', licenseKey, 'a', { fence: 1 })).toMatchObject({ body: lost })
    expect(await call('deactivate', licenseKey, 'a', { fence: 1 })).toMatchObject({
      body: { deactivated: false, reason: 'seat_lost' },
    })
    expect(await call('validate', licenseKey, 'a', { fence: 3 })).toMatchObject({ body: { valid: true } })
  })

  test('validates again before half of the time of the seat is over', async () => {
    const { licenseKey } = await make('one')
    const now = Math.floor(api().ledger.clock.now().getTime() / 1000)
    for (const name of ['activate', 'validate'])
      expect(await call(name, licenseKey, 'a')).toMatchObject({ body: { revalidate_after: now + 300 } })
  })

  test('finds a license that is not floating without a seat in any answer', async () => {
    const { licenseKey } = await make('kept')
    for (const name of ['activate', 'validate'])
      expect((await call(name, licenseKey, 'a', { fence: 5 })).body).not.toHaveProperty('seat')
  })
})

test('a device takes the place of one that ran out also where the plan has no place left', async () => {
  const { tenantId, token } = await makeTenant(api().ledger, 'free')
  const productId = await makeProduct(api().ask, token, 'small', {
    keyTypes: [
      { name: 'One', deviceLimit: 1, ...floating() },
      { name: 'Many', deviceLimit: null },
    ],
  })
  const activateOn = (license: { licenseKey: string }, device: string) =>
    api().ask('POST', '/v1/licenses/activate', {
      token,
      body: { product_id: productId, license_key: license.licenseKey, device_id: device },
    })
  const shared = await mint(api().ask, token, productId, { keyTypeId: 'one' })
  const many = await mint(api().ask, token, productId, { keyTypeId: 'many' })
  const most = planLimits.free.activeDevices
  expect(await activateOn(shared, 'a')).toMatchObject({ body: { activated: true } })
  await Promise.all(Array.from({ length: most - 1 }, (_, device) => activateOn(many, `device-${device}`)))
  expect(await countSeatedDevices(api().ledger.db, tenantId)).toBe(most)
  expect(await activateOn(many, 'another')).toMatchObject({ body: { status: 'plan_limit' } })
  await runOut(shared.id)
  expect(await activateOn(shared, 'b')).toMatchObject({ body: { activated: true, seat: { fence: 2 } } })
  expect(await countSeatedDevices(api().ledger.db, tenantId)).toBe(most)
})

describe('a vendor', () => {
  const keyTypes = '/v1/products/editor/key-types'
  const send = (method: 'POST' | 'PATCH' | 'GET', path: string, body?: object) =>
    api().ask(method, path, { token: tenant().token, ...(body && { body }) })

  test('sees how seats float on the key type and on its licenses, which keep it', async () => {
    const made = await send('POST', keyTypes, { name: 'Changing', deviceLimit: 1, ...floating() })
    expect(made).toMatchObject({ status: 201, body: { created: floating() } })
    const { id } = await make('changing')
    const changed = await send('PATCH', `${keyTypes}/changing`, { seatPolicy: 'device' })
    expect(changed.status).toBe(200)
    expect(changed.body).not.toHaveProperty('updated.floatingSeats')
    expect(await send('GET', `/v1/licenses/${id}`)).toMatchObject({
      body: { license: floating() },
    })
  })

  test.each([
    [{ seatPolicy: 'floating' }, 400],
    [{ ...floating(), seatPolicy: 'device' }, 400],
    [floating({ seatSeconds: 59 }), 400],
    [floating({ seatSeconds: 90 * 86_400 + 1 }), 400],
    [floating({ overdraft: { share: 1.5 } }), 400],
    [{ floatingSeats: floating().floatingSeats }, 201],
  ])('who sends %j gets %i', async (fields, status) => {
    const name = `Try ${JSON.stringify(fields).length} ${status}`
    expect((await send('POST', keyTypes, { name, ...fields })).status).toBe(status)
  })
})
