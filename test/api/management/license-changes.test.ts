/** Guarantee: a reminted license has only its newest key; a device that the vendor deactivates frees its seat. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { revokeLicense } from '../../../src/commands/licenses/licenses.ts'
import { licenseStream } from '../../../src/domain/streams.ts'
import { makeTenant, openTestApi, type TestApi, type TestTenant } from '../../harness/api.ts'
import { eventsIn, origin } from '../../harness/ledger.ts'
import { makeProduct, mint } from '../../http/samples.ts'

let api: TestApi
let tenant: TestTenant
beforeAll(async () => {
  api = await openTestApi()
  tenant = await makeTenant(api.ledger)
  const keyTypes = [{ name: 'Pro', deviceLimit: 2, entitlements: ['pro'] }]
  await makeProduct(api.ask, tenant.token, 'editor', { keyPrefix: 'ACME', keyTypes })
})
afterAll(() => api.close())

const post = async (url: string, body?: unknown) => {
  const answer = await api.ask('POST', url, { token: tenant.token, body })
  return { status: answer.status, body: answer.body }
}
const detail = async (id: string) => {
  const { body } = await api.ask('GET', `/v1/licenses/${id}`, { token: tenant.token })
  const License = z.looseObject({ devices: z.array(z.looseObject({ instanceId: z.string() })) })
  return z.object({ license: License }).parse(body).license
}
const onDevice = (license_key: string, device_id: string) => ({
  product_id: 'editor',
  license_key,
  device_id,
})
const activate = (key: string, device: string) => post('/v1/licenses/activate', onDevice(key, device))
const validate = async (key: string, device: string) =>
  (await post('/v1/licenses/validate', onDevice(key, device))).body
const eventTypes = async (id: string) =>
  (await eventsIn(api.ledger.ports.ledger, licenseStream(id))).map((entry) =>
    entry.readable ? entry.event.type : 'unreadable',
  )
const Reminted = z.strictObject({
  license: z.looseObject({ id: z.string(), displayKey: z.string() }),
  licenseKey: z.string(),
})

describe('reminting a license', () => {
  test('gives it a new key; the old keys answer `reminted`', async () => {
    const { id, licenseKey } = await mint(api.ask, tenant.token, 'editor', { email: 'ada@example.com' })
    await activate(licenseKey, 'laptop')
    const before = await detail(id)
    const first = await post(`/v1/licenses/${id}/remint`, {})
    expect(first.status).toBe(200)
    const reminted = Reminted.parse(first.body)
    const { devices: _, ...license } = before
    const displayKey = expect.stringMatching(/^ACME…[0-9A-HJKMNP-TV-Z]{4}$/) as string
    expect(reminted.license).toStrictEqual({ ...license, displayKey, seatsUsed: 0 })
    expect(reminted.licenseKey).toMatch(/^ACME(-[0-9A-HJKMNP-TV-Z]{5}){5}-[0-9A-HJKMNP-TV-Z]$/)

    const again = Reminted.parse((await post(`/v1/licenses/${id}/remint`)).body)
    expect(new Set([licenseKey, reminted.licenseKey, again.licenseKey]).size).toBe(3)
    for (const old of [licenseKey, reminted.licenseKey]) {
      expect(await validate(old, 'laptop')).toMatchObject({ valid: false, status: 'reminted' })
      expect((await activate(old, 'laptop')).body).toMatchObject({ activated: false, status: 'reminted' })
      expect((await post('/v1/licenses/deactivate', onDevice(old, 'laptop'))).body).toStrictEqual({
        deactivated: false,
        reason: 'reminted',
      })
    }
    expect(await validate(again.licenseKey, 'laptop')).toMatchObject({ status: 'inactive' })
    expect((await activate(again.licenseKey, 'laptop')).body).toMatchObject({ activated: true })
  })

  test('frees its seats unless keepDevices is true', async () => {
    const { id, licenseKey } = await mint(api.ask, tenant.token, 'editor')
    await activate(licenseKey, 'laptop')
    const kept = Reminted.parse((await post(`/v1/licenses/${id}/remint`, { keepDevices: true })).body)
    expect(kept.license).toMatchObject({ seatsUsed: 1 })
    expect(await validate(kept.licenseKey, 'laptop')).toMatchObject({ valid: true })
    const freed = Reminted.parse((await post(`/v1/licenses/${id}/remint`, { keepDevices: false })).body)
    expect(freed.license).toMatchObject({ seatsUsed: 0 })
    expect(await validate(freed.licenseKey, 'laptop')).toMatchObject({ status: 'inactive' })
    expect((await detail(id)).devices).toMatchObject([{ deviceId: 'laptop', status: 'deactivated' }])
  })

  test('is refused when it is revoked, and its key stays', async () => {
    const { id, licenseKey } = await mint(api.ask, tenant.token, 'editor')
    await revokeLicense(api.ledger.ports, tenant.tenantId, id, null, origin)
    expect(await post(`/v1/licenses/${id}/remint`)).toStrictEqual({
      status: 409,
      body: { error: 'the license is revoked' },
    })
    expect(await validate(licenseKey, 'laptop')).toMatchObject({ status: 'revoked' })
  })

  test('concurrently returns a different key to each request, of which one remains valid', async () => {
    const { id } = await mint(api.ask, tenant.token, 'editor')
    const answers = await Promise.all(Array.from({ length: 8 }, () => post(`/v1/licenses/${id}/remint`)))
    const keys = answers.map(({ body }) => Reminted.parse(body).licenseKey)
    expect(new Set(keys).size).toBe(8)
    const statuses = await Promise.all(keys.map(async (key) => validate(key, 'd')))
    const current = statuses.filter(
      (verdict) => z.looseObject({ status: z.string() }).parse(verdict).status !== 'reminted',
    )
    expect(current).toHaveLength(1)
  })
})

describe('deactivating a device', () => {
  const seated = async () => {
    const { id, licenseKey } = await mint(api.ask, tenant.token, 'editor')
    await activate(licenseKey, 'laptop')
    await activate(licenseKey, 'phone')
    return { id, licenseKey, path: `/v1/licenses/${id}/deactivate-device` }
  }
  const removed = { status: 200, body: { deactivated: true } }

  test('by its deviceId frees its seat for another device', async () => {
    const { id, licenseKey, path } = await seated()
    expect((await activate(licenseKey, 'tablet')).body).toMatchObject({ status: 'seat_limit_reached' })
    expect(await post(path, { deviceId: 'laptop' })).toStrictEqual(removed)
    expect(await validate(licenseKey, 'laptop')).toMatchObject({ valid: false, status: 'inactive' })
    expect((await activate(licenseKey, 'tablet')).body).toMatchObject({ activated: true })
    expect(await detail(id)).toMatchObject({ seatsUsed: 2 })
  })

  test('by its instanceId frees its seat', async () => {
    const { id, licenseKey, path } = await seated()
    const instanceId = (await detail(id)).devices[1]?.instanceId
    expect(await post(path, { instanceId })).toStrictEqual(removed)
    expect(await validate(licenseKey, 'phone')).toMatchObject({ status: 'inactive' })
    expect(await validate(licenseKey, 'laptop')).toMatchObject({ valid: true })
  })

  test('repeatedly returns the same response and is recorded once', async () => {
    const { id, path } = await seated()
    for (let count = 0; count < 3; count++)
      expect(await post(path, { deviceId: 'laptop' })).toStrictEqual(removed)
    const racing = await Promise.all(Array.from({ length: 8 }, () => post(path, { deviceId: 'phone' })))
    expect(new Set(racing.map((answer) => JSON.stringify(answer))).size).toBe(1)
    expect(await eventTypes(id)).toStrictEqual([
      'LicenseMinted',
      'DeviceActivated',
      'DeviceActivated',
      'DeviceDeactivated',
      'DeviceDeactivated',
    ])
  })

  test('works on a revoked license', async () => {
    const { id, path } = await seated()
    await revokeLicense(api.ledger.ports, tenant.tenantId, id, null, origin)
    expect(await post(path, { deviceId: 'laptop' })).toStrictEqual(removed)
    expect(await detail(id)).toMatchObject({ seatsUsed: 1, status: 'revoked' })
  })

  test.each([
    [{ deviceId: 'never seen' }],
    [{ instanceId: 'ins_never' }],
    // The deviceId is not an instanceId.
    [{ instanceId: 'laptop' }],
  ])('returns 404 for %j, which never had a seat', async (device) => {
    const { path } = await seated()
    expect(await post(path, device)).toStrictEqual({ status: 404, body: { error: 'device not found' } })
  })

  test('of another license returns 404 and frees no seat', async () => {
    const one = await seated()
    const other = await mint(api.ask, tenant.token, 'editor')
    const instanceId = (await detail(one.id)).devices[0]?.instanceId
    const answer = await post(`/v1/licenses/${other.id}/deactivate-device`, { instanceId })
    expect(answer).toStrictEqual({ status: 404, body: { error: 'device not found' } })
    expect(await detail(one.id)).toMatchObject({ seatsUsed: 2 })
  })

  test.each([
    [{}],
    [{ deviceId: 'laptop', instanceId: 'ins_1' }],
    [{ deviceId: '' }],
    [{ deviceId: 1 }],
    [{ device: 'laptop' }],
    [{ deviceId: null }],
  ])('returns 400 for %j', async (device) => {
    const { path } = await seated()
    expect(await post(path, device)).toStrictEqual({
      status: 400,
      body: { error: expect.any(String) as string },
    })
  })
})

test.each(['lic_absent', 'a', '%00', 'lic_00000000000000000000000000', 'x'.repeat(90)])(
  'remint and deactivate-device return 404 for the license id %s',
  async (id) => {
    const notFound = { status: 404, body: { error: 'license not found' } }
    expect(await post(`/v1/licenses/${id}/remint`)).toStrictEqual(notFound)
    expect(await post(`/v1/licenses/${id}/deactivate-device`, { deviceId: 'd' })).toStrictEqual(notFound)
  },
)

test.each([[{ keepDevices: 'yes' }], [{ keep: true }], [[]], ['text']])(
  'a remint with %j returns 400',
  async (body) => {
    const { id } = await mint(api.ask, tenant.token, 'editor')
    expect((await post(`/v1/licenses/${id}/remint`, body)).status).toBe(400)
    expect(await eventTypes(id)).toStrictEqual(['LicenseMinted'])
  },
)
