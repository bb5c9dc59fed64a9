/**
 * Guarantee: support finds why a call was refused on the license's page, beside the device, on Home with links that
 * filter, and by searching a key that no license has.
 */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { newLicenseKey } from '../../src/credentials/license-key.ts'
import { makeTenant, openTestApi, type TestApi, type TestTenant } from '../harness/api.ts'
import { makeProduct, mint } from '../http/samples.ts'
import { type Client, clientOf } from './client.ts'
import { makeMember } from './members.ts'

let api: TestApi
let tenant: TestTenant
let browser: Client
let license: { id: string; licenseKey: string }
const unknown = newLicenseKey('ACME', (size) => Buffer.alloc(size, 5))
beforeAll(async () => {
  api = await openTestApi()
  tenant = await makeTenant(api.ledger)
  await makeProduct(api.ask, tenant.token, 'editor', { keyTypes: [{ name: 'One', deviceLimit: 1 }] })
  license = await mint(api.ask, tenant.token, 'editor')
  await call('activate', license.licenseKey, 'laptop')
  for (const device of ['desktop', 'desktop', 'phone']) await call('activate', license.licenseKey, device)
  await call('validate', license.licenseKey, 'desktop')
  await api.ask('POST', '/v1/licenses/deactivate', {
    token: tenant.token,
    body: { product_id: 'editor', license_key: license.licenseKey, device_id: 'laptop' },
  })
  await call('validate', license.licenseKey, 'laptop')
  for (const _ of [1, 2, 3]) await call('activate', unknown.licenseKey, 'laptop')
  browser = clientOf(api.app)
  await browser.signIn(await makeMember(api.ledger, tenant.tenantId, 'support'))
})
afterAll(() => api.close())

const call = (what: 'activate' | 'validate', key: string, device: string) =>
  api.ask('POST', `/v1/licenses/${what}`, {
    token: tenant.token,
    body: { product_id: 'editor', license_key: key, device_id: device },
  })

/** The text of a page, without its tags. */
const words = (text: string): string =>
  text
    .replaceAll(/<[^>]+>/g, ' ')
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/ ([,.:])/g, '$1')

test('Home counts the refused activations of today, with a link for each reason', async () => {
  const { text } = await browser.get('/dashboard')
  expect(words(text)).toContain('6 refused activations since midnight UTC: 3 unknown key, 3 seat limit.')
  const href = '/dashboard/refusals?call=activate&amp;reason=seat_limit_reached'
  expect(text).toContain(`href="${href}"`)
  const list = words((await browser.get(href.replace('&amp;', '&'))).text)
  expect(list).toContain('Activation seat limit desktop your server 2')
  expect(list).toContain('Activation seat limit phone your server 1')
  expect(list).not.toContain('Validation device has no seat')
})

test('the page of a license lists its refusals, and a past state does not', async () => {
  const path = `/dashboard/licenses/${license.id}`
  const now = words((await browser.get(path)).text)
  expect(now).toContain('Refused calls')
  expect(now).toContain('Validation device has no seat desktop your server 1')
  expect(words((await browser.get(`${path}?asOf=0`)).text)).not.toContain('Refused calls')
})

test('a device says when it was last refused, and why', async () => {
  expect(words((await browser.get('/dashboard/devices')).text)).toContain('Validation: device has no seat')
})

test('a search for an unknown key tells how often it was refused, and shows no more than its masked form', async () => {
  const { status, text } = await browser.post('/dashboard/search', { text: unknown.licenseKey.toLowerCase() })
  expect(status).toBe(200)
  expect(words(text)).toContain(`A key shown as ${unknown.displayKey} was refused 3 times for editor since`)
  expect(text).not.toContain(unknown.licenseKey.slice(5, 16))
  const list = words((await browser.get('/dashboard/refusals?reason=not_found')).text)
  expect(list).toContain(`${unknown.displayKey} editor`)
})

test('another workspace sees none of it', async () => {
  const other = await makeTenant(api.ledger)
  const stranger = clientOf(api.app)
  await stranger.signIn(await makeMember(api.ledger, other.tenantId, 'owner'))
  expect((await stranger.get('/dashboard')).text).not.toContain('refused activation')
  expect(words((await stranger.get('/dashboard/refusals')).text)).toContain('No refusals')
  const { text } = await stranger.post('/dashboard/search', { text: unknown.licenseKey })
  expect(text).not.toContain('was refused')
})
