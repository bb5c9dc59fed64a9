/** Guarantee: a heartbeat keeps a floating seat as a validate does, and changes nothing else. */
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { askApproveRepeat } from '../../harness/gate.ts'
import { floatingShop } from './floating-shop.ts'

const { activate, api, call, heartbeat, make, runOut, take, tenant } = floatingShop()

const aNumber: unknown = expect.any(Number)

/** When the last of the seats of a license ends, in seconds. */
async function endOf(licenseId: string): Promise<number> {
  const { rows } = await api().ledger.db.query<{ end: number }>(
    'select max(extract(epoch from ends_at))::float8 as end from usage.seat_ends where license_id = $1',
    [licenseId],
  )
  return rows[0]?.end ?? 0
}

async function revisionOf(licenseId: string): Promise<number> {
  const { rows } = await api().ledger.db.query<{ revision: number }>(
    'select revision from licenses where license_id = $1',
    [licenseId],
  )
  return rows[0]?.revision ?? -1
}

describe('a heartbeat of an app', () => {
  test('keeps the seat, without a lease and without an event', async () => {
    const { id, licenseKey } = await make('one')
    const { instance_id: instanceId } = await take(licenseKey, 'a')
    const before = await endOf(id)
    const revision = await revisionOf(id)
    const now = Math.floor(api().ledger.clock.now().getTime() / 1000)
    const { status, body } = await heartbeat(licenseKey, instanceId, { fence: 1 })
    expect(status).toBe(200)
    expect(body).toStrictEqual({
      kept: true,
      seat: { id: instanceId, fence: 1, ends_at: aNumber },
      revalidate_after: now + 300,
    })
    expect(await endOf(id)).toBeGreaterThan(before)
    expect(await revisionOf(id)).toBe(revision)
  })

  test('does not keep a seat that is lost, or the seat of a successor', async () => {
    const { id, licenseKey } = await make('one')
    const old = await take(licenseKey, 'a')
    await runOut(id)
    const lost = { status: 422, body: { reason: 'seat_lost' } }
    expect(await heartbeat(licenseKey, old.instance_id)).toMatchObject(lost)
    const next = await take(licenseKey, 'b')
    const end = await endOf(id)
    expect(await heartbeat(licenseKey, old.instance_id, { fence: 1 })).toMatchObject(lost)
    expect(await heartbeat(licenseKey, next.instance_id, { fence: 1 })).toMatchObject(lost)
    expect(await endOf(id)).toStrictEqual(end)
  })

  const change = (id: string, operation: string) => {
    const path = `/v1/licenses/${id}/${operation}`
    return operation === 'revoke'
      ? askApproveRepeat(api(), tenant(), 'POST', path)
      : api().ask('POST', path, { token: tenant().token })
  }

  test.each([
    ['suspend', 'suspended'],
    ['revoke', 'revoked'],
  ])('is refused while the license gives no seats: after %s', async (operation, reason) => {
    const { id, licenseKey } = await make('one')
    const { instance_id: instanceId } = await take(licenseKey, 'a')
    const end = await endOf(id)
    await change(id, operation)
    expect(await heartbeat(licenseKey, instanceId)).toMatchObject({ status: 422, body: { reason } })
    expect(await endOf(id)).toStrictEqual(end)
  })

  test('is refused for a license that has expired, an unknown key and an unknown instance', async () => {
    const { licenseKey } = await make('term')
    const { instance_id: instanceId } = await take(licenseKey, 'a')
    expect(await heartbeat(licenseKey, 'ins_unknown')).toMatchObject({
      status: 422,
      body: { reason: 'inactive' },
    })
    expect(await heartbeat('ABCDEFGHIJ', instanceId)).toMatchObject({
      status: 404,
      body: { reason: 'not_found' },
    })
    api().ledger.clock.advance(2 * 86_400_000)
    expect(await heartbeat(licenseKey, instanceId)).toMatchObject({
      status: 422,
      body: { reason: 'expired' },
    })
  })

  test('changes nothing for a seat that does not float', async () => {
    const { licenseKey } = await make('kept')
    const { body } = await activate(licenseKey, 'a')
    const { instance_id: instanceId } = z.looseObject({ instance_id: z.string() }).parse(body)
    expect(await heartbeat(licenseKey, instanceId, { fence: 3 })).toMatchObject({ status: 200 })
    expect((await heartbeat(licenseKey, instanceId)).body).toStrictEqual({ kept: true })
  })
})

describe('a heartbeat of a server', () => {
  test('keeps the seat of its device with a heartbeat', async () => {
    const { id, licenseKey } = await make('one')
    await call('activate', licenseKey, 'a')
    const before = await endOf(id)
    const revision = await revisionOf(id)
    const now = Math.floor(api().ledger.clock.now().getTime() / 1000)
    expect((await call('heartbeat', licenseKey, 'a', { fence: 1 })).body).toStrictEqual({
      kept: true,
      status: 'active',
      seat: { id: 'a', fence: 1, ends_at: aNumber },
      revalidate_after: now + 300,
      device_id: 'a',
    })
    expect(await endOf(id)).toBeGreaterThan(before)
    expect(await revisionOf(id)).toBe(revision)
    for (const [device, more] of [
      ['a', { fence: 2 }],
      ['b', {}],
    ] as const)
      expect(await call('heartbeat', licenseKey, device, more)).toMatchObject({
        status: 200,
        body: { kept: false, status: 'inactive', device_id: device },
      })
    expect(await call('heartbeat', 'ABCDEFGHIJ', 'a')).toMatchObject({
      body: { kept: false, status: 'not_found', reason: 'not_found' },
    })
    await runOut(id)
    expect(await call('heartbeat', licenseKey, 'a')).toMatchObject({
      body: { kept: false, status: 'inactive', reason: 'seat_lost' },
    })
  })

  test('is told that a heartbeat of a seat that does not float changes nothing', async () => {
    const { licenseKey } = await make('kept')
    await call('activate', licenseKey, 'a')
    const { body } = await call('heartbeat', licenseKey, 'a')
    expect(body).toMatchObject({ kept: true, status: 'active' })
    expect(body).not.toHaveProperty('seat')
    expect(await call('heartbeat', licenseKey, 'b')).toMatchObject({
      body: { kept: false, reason: 'inactive' },
    })
  })
})
