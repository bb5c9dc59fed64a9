/** Guarantee: whoever finds no floating seat learns when to come again, and is counted once until then or until it has one. */
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { eventsIn } from '../../harness/ledger.ts'
import { floatingShop } from './floating-shop.ts'

const { activate, api, call, deactivate, make, take, tenant } = floatingShop()

const aNumber: unknown = expect.any(Number)
const aText: unknown = expect.any(String)

describe('a device that finds no seat', () => {
  const Refused = z.looseObject({ retry_after: z.int(), waiting: z.int() })
  const endIn = (licenseId: string, seconds: number) =>
    api().ledger.db.query(
      `update usage.seat_ends set ends_at = clock_timestamp() + make_interval(secs => $2) where license_id = $1`,
      [licenseId, seconds],
    )

  test('learns when the first seat may be free, on both interfaces', async () => {
    const { id, licenseKey } = await make('one')
    await take(licenseKey, 'a')
    await endIn(id, 200)
    const { status, body, headers } = await activate(licenseKey, 'b')
    expect(status).toBe(422)
    const { retry_after: seconds, waiting } = Refused.parse(body)
    expect(seconds).toBeGreaterThan(150)
    expect(seconds).toBeLessThanOrEqual(200)
    expect(headers['retry-after']).toBe(String(seconds))
    expect(waiting).toBe(1)
    const server = await call('activate', licenseKey, 'c')
    expect(server).toMatchObject({ status: 200, body: { status: 'seat_limit_reached', waiting: 2 } })
    expect(server.body).not.toHaveProperty('holders')
  })

  test('comes again after one second at least, and one period at most', async () => {
    const { id, licenseKey } = await make('one')
    await take(licenseKey, 'a')
    await endIn(id, 100_000)
    expect(await activate(licenseKey, 'b')).toMatchObject({ body: { retry_after: 600 } })
    await api().ledger.db.query('delete from usage.seat_ends where license_id = $1', [id])
    expect(await activate(licenseKey, 'b')).toMatchObject({ body: { retry_after: 600 } })
  })

  test('is counted once however often it asks, until it has a seat or its time is over', async () => {
    const { id, licenseKey } = await make('one')
    const { instance_id } = await take(licenseKey, 'a')
    for (const [name, waiting] of [
      ['b', 1],
      ['b', 1],
      ['c', 2],
      ['b', 2],
    ] as const)
      expect(await activate(licenseKey, name)).toMatchObject({ status: 422, body: { waiting } })
    await deactivate(licenseKey, instance_id)
    await take(licenseKey, 'b')
    expect(await activate(licenseKey, 'd')).toMatchObject({ body: { waiting: 2 } })
    await api().ledger.db.query(
      `update usage.seat_waits set until = clock_timestamp() - interval '1 second' where license_id = $1`,
      [id],
    )
    expect(await activate(licenseKey, 'e')).toMatchObject({ body: { waiting: 1 } })
    await api().ledger.ports.seatEnds.licensesWithPassed(1, [])
    const { rowCount } = await api().ledger.db.query('select from usage.seat_waits where license_id = $1', [
      id,
    ])
    expect(rowCount).toBe(1)
  })

  test('learns who has the seats only where the product says so', async () => {
    const { licenseKey } = await make('over')
    await take(licenseKey, 'a')
    await take(licenseKey, 'b')
    expect((await activate(licenseKey, 'c')).body).not.toHaveProperty('holders')
    const show = (showSeatHolders: boolean) =>
      api().ask('PATCH', '/v1/products/editor', {
        token: tenant().token,
        body: { settings: { showSeatHolders } },
      })
    expect((await show(true)).status).toBe(200)
    const holders = [
      { name: 'a', since: aNumber },
      { name: 'b', since: aNumber },
    ]
    expect((await activate(licenseKey, 'c')).body).toMatchObject({ holders })
    expect((await call('activate', licenseKey, 'c')).body).toMatchObject({ holders })
    expect((await show(false)).status).toBe(200)
  })

  test('is told nothing of this where devices keep their seats', async () => {
    const { licenseKey } = await make('kept')
    await activate(licenseKey, 'a')
    const { body, headers } = await activate(licenseKey, 'b')
    expect(body).toStrictEqual({ error: aText, reason: 'seat_limit_reached' })
    expect(headers).not.toHaveProperty('retry-after')
  })

  test('has it recorded that none is left, once an hour', async () => {
    const { id, licenseKey } = await make('one')
    const exhausted = async () =>
      (await eventsIn(api().ledger.ports.ledger, `license-${id}`)).flatMap((entry) =>
        entry.readable && entry.event.type === 'SeatsExhausted' ? [entry.event.data] : [],
      )
    await take(licenseKey, 'a')
    await activate(licenseKey, 'b')
    await Promise.all(['c', 'd'].map((name) => activate(licenseKey, name)))
    expect(await exhausted()).toStrictEqual([{ seats: 1, waiting: 1, at: aText }])
    api().ledger.clock.advance(3_600_000)
    await activate(licenseKey, 'b')
    await call('activate', licenseKey, 'e')
    expect(await exhausted()).toMatchObject([{ waiting: 1 }, { waiting: 3 }])
  })

  test('finds its seat when a run that was cut off after that is repeated', async () => {
    const { id, licenseKey } = await make('one')
    const { instance_id } = await take(licenseKey, 'a')
    const headers = { 'idempotency-key': `run-${id}` }
    const again = () =>
      api().ask('POST', '/v1/licenses/activate', {
        token: tenant().token,
        headers,
        body: { product_id: 'editor', license_key: licenseKey, device_id: 'b' },
      })
    expect(await again()).toMatchObject({ body: { activated: false } })
    // As after a crash before the answer was stored.
    await api().ledger.db.query(`update vault.idempotency set reply = null, leased_until = '-infinity'`)
    await deactivate(licenseKey, instance_id)
    expect(await again()).toMatchObject({ body: { activated: true, seat: { id: 'b', fence: 2 } } })
  })
})
