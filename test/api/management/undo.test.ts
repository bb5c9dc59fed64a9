/**
 * Guarantee: a change of a license is undone by a new event and another approval, where that is safe: a revocation,
 * a deactivated device, an import. Otherwise the response is 409 and no approval is requested.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { verify } from '../../../projections/runner/verify.ts'
import { approve } from '../../../src/gate/approvals.ts'
import { type Answer, makeTenant, openTestApi, type TestApi, type TestTenant } from '../../harness/api.ts'
import { approver, askApproveRepeat, confirmed, pendingId } from '../../harness/gate.ts'
import { commandLicense, eventsIn } from '../../harness/ledger.ts'
import { importRows, makeProduct, mint } from '../../http/samples.ts'

let api: TestApi
let tenant: TestTenant
beforeAll(async () => {
  api = await openTestApi()
  tenant = await makeTenant(api.ledger)
  await makeProduct(api.ask, tenant.token, 'editor', { keyTypes: [{ name: 'Two', deviceLimit: 2 }] })
})
afterAll(() => api.close())

const post = (path: string, body?: unknown): Promise<Answer> =>
  api.ask('POST', `/v1/licenses/${path}`, { token: tenant.token, body })
const undone = (id: string, what: string, body?: unknown) =>
  askApproveRepeat(api, tenant, 'POST', `/v1/licenses/${id}/${what}`, { body })
const runtime = async (call: string, key: string, device: string) =>
  (await post(call, { product_id: 'editor', license_key: key, device_id: device })).body
const typesOf = async (id: string) =>
  (await eventsIn(api.ledger.ports.ledger, `license-${id}`)).map((entry) =>
    entry.readable ? entry.event.type : 'unreadable',
  )
const at = () => api.ledger.clock.now().toISOString()

describe('a revoked license', () => {
  test('is reinstated with its devices; the next validate is valid', async () => {
    const { id, licenseKey } = await mint(api.ask, tenant.token, 'editor')
    await runtime('activate', licenseKey, 'laptop')
    await undone(id, 'revoke')
    expect(await runtime('validate', licenseKey, 'laptop')).toMatchObject({ valid: false, status: 'revoked' })
    const { status, body } = await undone(id, 'reinstate', { reason: 'by mistake' })
    expect({ status, body }).toMatchObject({
      status: 200,
      body: { license: { id, status: 'active', seatsUsed: 1 } },
    })
    expect(await runtime('validate', licenseKey, 'laptop')).toMatchObject({ valid: true })
    expect(await typesOf(id)).toStrictEqual([
      'LicenseMinted',
      'DeviceActivated',
      'LicenseRevoked',
      'RevocationUndone',
    ])
  })

  test('is not reinstated again by an old approval', async () => {
    const { id } = await mint(api.ask, tenant.token, 'editor')
    await undone(id, 'revoke')
    const confirmation = pendingId(await post(`${id}/reinstate`))
    await approve(api.ledger.ports, tenant.tenantId, confirmation, approver)
    const url = `/v1/licenses/${id}/reinstate`
    expect((await confirmed(api.ask, tenant, 'POST', url, confirmation)).status).toBe(200)
    await undone(id, 'revoke')
    expect((await confirmed(api.ask, tenant, 'POST', url, confirmation)).status).toBe(403)
    expect((await api.ask('GET', `/v1/licenses/${id}`, { token: tenant.token })).body).toMatchObject({
      license: { status: 'revoked' },
    })
  })

  test('cannot be reinstated when its payment was refunded or its key type is deleted', async () => {
    const refunded = await mint(api.ask, tenant.token, 'editor')
    const refund = {
      payment: 'first',
      because: 'refund',
      amount: 1,
      totalRefunded: 1,
      currency: 'usd',
    } as const
    const request = {
      saleId: 'cs_1',
      through: 1,
      refunded: [refund],
      unpaid: 'refund',
      keepRefunded: false,
      expiresAt: undefined,
      isRenewed: false,
      hasEnded: false,
      terms: null,
      at: at(),
    } as const
    await commandLicense(api.ledger, refunded.id, { type: 'FollowSale', ...request })
    const answer = await post(`${refunded.id}/reinstate`)
    expect({ status: answer.status, text: answer.text }).toMatchObject({ status: 409 })
    expect(answer.text).toContain('the payment was refunded or lost in a dispute')

    const { token } = tenant
    await api.ask('POST', '/v1/products/editor/key-types', { token, body: { name: 'Gone' } })
    const gone = await mint(api.ask, token, 'editor', { keyTypeId: 'gone' })
    await undone(gone.id, 'revoke')
    await askApproveRepeat(api, tenant, 'DELETE', '/v1/products/editor/key-types/gone')
    expect(await post(`${gone.id}/reinstate`)).toMatchObject({ status: 409 })
  })
})

describe('a device that was deactivated', () => {
  test('gets its seat back with the same name and instance id', async () => {
    const { id, licenseKey } = await mint(api.ask, tenant.token, 'editor')
    await runtime('activate', licenseKey, 'laptop')
    await runtime('deactivate', licenseKey, 'laptop')
    expect(await undone(id, 'reseat-device', { deviceId: 'laptop' })).toMatchObject({
      status: 200,
      body: { license: { seatsUsed: 1 } },
    })
    expect(await runtime('validate', licenseKey, 'laptop')).toMatchObject({ valid: true })
    const events = await eventsIn(api.ledger.ports.ledger, `license-${id}`)
    const instances = events.flatMap((entry) =>
      entry.readable && entry.event.type === 'DeviceActivated' ? [entry.event.data.instanceId] : [],
    )
    expect(instances).toHaveLength(2)
    expect(new Set(instances).size).toBe(1)
  })

  test('returns 409 when all seats are in use, and 404 when it is unknown', async () => {
    const { id, licenseKey } = await mint(api.ask, tenant.token, 'editor')
    for (const device of ['one', 'two']) await runtime('activate', licenseKey, device)
    await runtime('deactivate', licenseKey, 'one')
    await runtime('activate', licenseKey, 'three')
    expect((await post(`${id}/reseat-device`, { deviceId: 'one' })).status).toBe(409)
    expect((await post(`${id}/reseat-device`, { deviceId: 'nobody' })).status).toBe(404)
    expect((await post(`${id}/reseat-device`, {})).status).toBe(400)
  })
})

describe('an import', () => {
  const row = (key: string) => ({ licenseKey: key, devices: [{ deviceId: 'old', name: 'Old Mac' }] })
  const imported = async (key: string) => {
    const { results } = await importRows(api.ask, tenant.token, 'editor', [row(key)])
    const [first] = results
    if (first?.id === undefined) throw new Error('it was not imported')
    return { status: first.status, licenseId: first.id }
  }

  test('that is undone answers `revoked`, and its key can be imported again as another license', async () => {
    const key = 'TAKEN-BACK-0001'
    const first = await imported(key)
    expect(await undone(first.licenseId, 'take-back-import', { reason: 'wrong list' })).toMatchObject({
      status: 200,
      body: { license: { status: 'revoked', seatsUsed: 0 } },
    })
    expect(await runtime('validate', key, 'old')).toMatchObject({ valid: false, status: 'revoked' })
    expect((await post(`${first.licenseId}/reinstate`)).status).toBe(409)
    const second = await imported(key)
    expect(second).toMatchObject({ status: 'imported' })
    expect(second.licenseId).not.toBe(first.licenseId)
    expect(await imported(key)).toMatchObject({ status: 'duplicate', licenseId: second.licenseId })
    expect(await runtime('validate', key, 'old')).toMatchObject({ valid: true })
    await undone(second.licenseId, 'take-back-import')
    const third = await imported(key)
    expect(new Set([first, second, third].map(({ licenseId }) => licenseId)).size).toBe(3)
    expect(await typesOf(second.licenseId)).toStrictEqual([
      'LicenseImported',
      'DeviceActivated',
      'ImportTakenBack',
    ])
  })

  test('cannot be undone when the license was used or not imported', async () => {
    const key = 'USED-SINCE-0001'
    const used = await imported(key)
    api.ledger.clock.advance(1000)
    await runtime('activate', key, 'new')
    expect((await post(`${used.licenseId}/take-back-import`)).status).toBe(409)
    const { id } = await mint(api.ask, tenant.token, 'editor')
    expect((await post(`${id}/take-back-import`)).text).toContain('was not imported')
  })
})

test('the read models equal a replay of the log', async () => {
  const found = await verify(api.ledger.db, api.ledger.ports.ledger, () => undefined)
  expect(found.differences).toStrictEqual([])
})
