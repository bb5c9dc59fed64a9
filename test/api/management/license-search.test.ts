/**
 * Guarantee: a license is found over the API and in the dashboard by its key, email address, device or id, with what
 * matched; a key is shown with the status that a validate of that key returns; nothing of another tenant is found.
 */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { revokeLicense } from '../../../src/commands/licenses/licenses.ts'
import { clientOf } from '../../dashboard/client.ts'
import { makeMember } from '../../dashboard/members.ts'
import { makeTenant, openTestApi, type TestApi, type TestTenant } from '../../harness/api.ts'
import { origin } from '../../harness/ledger.ts'
import { makeCustomer, makeProduct, mint } from '../../http/samples.ts'

let api: TestApi
let tenant: TestTenant
let reminted: { id: string; former: string; present: string }
let revoked: { id: string; licenseKey: string }

beforeAll(async () => {
  api = await openTestApi()
  tenant = await makeTenant(api.ledger)
  const { token } = tenant
  await makeProduct(api.ask, token, 'editor')
  const { id, licenseKey: former } = await mint(api.ask, token, 'editor', { email: 'ada@example.com' })
  const { body } = await api.ask('POST', `/v1/licenses/${id}/remint`, { token, body: {} })
  reminted = { id, former, present: (body as { licenseKey: string }).licenseKey }
  revoked = await mint(api.ask, token, 'editor', { customerId: await makeCustomer(api.ask, token) })
  await revokeLicense(api.ledger.ports, tenant.tenantId, revoked.id, null, origin)
  const activate = {
    product_id: 'editor',
    license_key: reminted.present,
    device_id: 'dev-1',
    name: 'MacBook',
  }
  await api.ask('POST', '/v1/licenses/activate', { token, body: activate })
})
afterAll(() => api.close())

async function found(text: string, token = tenant.token) {
  const { status, body } = await api.ask('POST', '/v1/licenses/search', { token, body: { text } })
  expect(status).toBe(200)
  const { items, ...page } = body as { items: { license: { id: string }; matched: unknown[] }[] }
  expect(page).toStrictEqual({ nextCursor: null, more: false })
  return items.map(({ license, matched }) => [license.id, matched])
}

const validated = async (license_key: string) => {
  const body = { product_id: 'editor', license_key }
  const answer = await api.ask('POST', '/v1/licenses/validate', { token: tenant.token, body })
  return (answer.body as { status: string }).status
}

test('a search by key returns the status that a validate of that key returns', async () => {
  for (const [key, id, by, status] of [
    [reminted.present, reminted.id, 'key', 'active'],
    [reminted.former, reminted.id, 'former_key', 'reminted'],
    [revoked.licenseKey, revoked.id, 'key', 'revoked'],
  ] as const) {
    expect(await found(key)).toStrictEqual([[id, [{ by, keyStatus: status }]]])
    expect(await validated(key)).toBe(status)
  }
})

test('a search by email address, device or license id returns what matched', async () => {
  expect(await found('ada@example.com')).toStrictEqual([
    [revoked.id, [{ by: 'email' }]],
    [reminted.id, [{ by: 'email' }]],
  ])
  expect(await found('macb')).toStrictEqual([[reminted.id, [{ by: 'device_name', deviceId: 'dev-1' }]]])
  expect(await found('dev-1')).toStrictEqual([[reminted.id, [{ by: 'device_id', deviceId: 'dev-1' }]]])
  expect(await found(reminted.id)).toStrictEqual([[reminted.id, [{ by: 'license_id' }]]])
  expect(await found('nothing of this name')).toStrictEqual([])
})

test("another tenant's keys and people are not found", async () => {
  const other = await makeTenant(api.ledger)
  for (const text of [reminted.present, reminted.former, revoked.licenseKey, 'ada@example.com', revoked.id]) {
    expect(await found(text, other.token)).toStrictEqual([])
  }
})

test('the dashboard shows the status of the old key of a reminted license, not that of the current key', async () => {
  const browser = clientOf(api.app)
  await browser.signIn(await makeMember(api.ledger, tenant.tenantId, 'support'))
  await browser.get('/dashboard')
  const former = await browser.post('/dashboard/search', { text: reminted.former })
  expect(former.status).toBe(200)
  expect(former.text).toContain('Would this key validate now?')
  expect(former.text).toMatch(/No\s*<code>reminted<\/code>/)
  expect(former.text).not.toContain('verdict good')
  expect(former.text).toContain(`href="/dashboard/licenses/${reminted.id}"`)
  for (const { key, id } of [
    { key: reminted.present, id: reminted.id },
    { key: revoked.licenseKey, id: revoked.id },
  ]) {
    const opened = await browser.post('/dashboard/search', { text: key })
    expect({ status: opened.status, location: opened.headers.location }).toStrictEqual({
      status: 303,
      location: `/dashboard/licenses/${id}`,
    })
  }
  const { text } = await browser.get(`/dashboard/licenses/${revoked.id}`)
  expect(text).toMatch(/No\s*<code>revoked<\/code>/)

  const stranger = clientOf(api.app)
  const other = await makeTenant(api.ledger)
  await stranger.signIn(await makeMember(api.ledger, other.tenantId, 'support'))
  await stranger.get('/dashboard')
  const nothing = await stranger.post('/dashboard/search', { text: reminted.former })
  expect(nothing.text).not.toContain('Would this key validate now?')
  expect(nothing.text).toContain('No results')
})
