/**
 * Guarantee: the page of a customer shows what belongs to their licenses and to nobody else's, the newest of each with a link to
 * all, in a number of queries that does not grow with the licenses.
 */
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { sweep } from '../../src/access/sessions.ts'
import { createMailChannel } from '../../src/mail/channel.ts'
import { receiveNotification } from '../../src/sales/receive.ts'
import { startDispatch } from '../harness/dispatch.ts'
import { origin } from '../harness/ledger.ts'
import { makeCustomer, makeProduct, mint } from '../http/samples.ts'
import { openTestPortal, type TestPortal } from '../portal/customer.ts'
import { purchase } from '../sales/notifications.ts'
import { type Client, clientOf } from './client.ts'
import { wordsOf } from './forms.ts'
import { makeMember } from './members.ts'

let portal: TestPortal
let client: Client
const editor = { name: 'Pro', deviceLimit: 1, entitlements: ['export', 'sync'] }
beforeAll(async () => {
  portal = await openTestPortal()
  const { api, tenant } = portal
  await makeProduct(api.ask, tenant.token, 'editor', { keyTypes: [editor] })
  client = clientOf(api.app)
  await client.signIn(await makeMember(api.ledger, tenant.tenantId, 'support'))
})
afterAll(() => portal.close())

const day = 86_400_000
const call = (what: 'activate' | 'validate', key: string, device: string) =>
  portal.api.ask('POST', `/v1/licenses/${what}`, {
    token: portal.tenant.token,
    body: { product_id: 'editor', license_key: key, device_id: device },
  })

/** A buyer with a license that has a device and has refused another. */
async function buyer(name: string) {
  const { api, tenant } = portal
  const email = `${name}@example.com`
  const { id, licenseKey } = await mint(api.ask, tenant.token, 'editor', { email })
  await call('activate', licenseKey, `${name}-laptop`)
  await call('activate', licenseKey, `${name}-phone`)
  const { body } = await api.ask('GET', `/v1/licenses/${id}`, { token: tenant.token })
  const { customerId } = (body as { license: { customerId: string } }).license
  return { email, licenseId: id, customerId, page: `/dashboard/customers/${customerId}` }
}

test('devices and refused calls of the licenses are shown, and no others, with lists of all', async () => {
  const [ada, grace] = [await buyer('ada'), await buyer('grace')]
  const seen = await client.get(ada.page)
  expect(wordsOf(seen)).toContain('ada-laptop')
  expect(wordsOf(seen)).toContain('not reported')
  expect(wordsOf(seen)).toMatch(/Activation\s*seat limit\s*ada-phone/)
  expect(seen.text).not.toContain('grace-')
  expect(seen.text).not.toContain('Show all devices')
  for (const list of ['devices', 'refusals', 'deliveries']) {
    const all = await client.get(`/dashboard/${list}?customer=${grace.customerId}`)
    expect(wordsOf(all)).toContain('Showing one customer')
    expect(all.text).not.toContain('ada-')
    expect(all.text.includes('grace-')).toBe(list !== 'deliveries')
  }
})

test('more devices than are shown lead to the list of all of them', async () => {
  const { api, tenant } = portal
  const { customerId, page } = await buyer('many')
  for (let extra = 0; extra < 5; extra++) {
    const { id, licenseKey } = await mint(api.ask, tenant.token, 'editor', { email: 'many@example.com' })
    await call('activate', licenseKey, `extra-${extra}`)
    expect(id).toMatch(/^lic_/)
  }
  const seen = await client.get(page)
  expect(seen.text).toContain(`href="/dashboard/devices?customer=${customerId}">Show all devices`)
  expect(seen.text).not.toContain('many-laptop')
  expect((await client.get(`/dashboard/devices?customer=${customerId}`)).text).toContain('many-laptop')
})

test('what the licenses grant is shown once for each set, with the overrides', async () => {
  const { api, tenant } = portal
  const { customerId, licenseId, page } = await buyer('granted')
  await mint(api.ask, tenant.token, 'editor', { email: 'granted@example.com' })
  expect(wordsOf(await client.get(page))).toMatch(/editor pro\s*export\s*sync\s*2/)
  await api.ask('PATCH', `/v1/customers/${customerId}/entitlements`, {
    token: tenant.token,
    body: { overrides: [{ entitlement: 'export', effect: 'revoke' }] },
  })
  expect(wordsOf(await client.get(page))).toMatch(/editor pro\s*sync\s*2/)
  await api.ask('POST', `/v1/licenses/${licenseId}/suspend`, { token: tenant.token, body: {} })
  expect(wordsOf(await client.get(page))).toMatch(/editor pro\s*sync\s*1/)
})

test('emails about the licenses are shown with their delivery', async () => {
  const { api, tenant } = portal
  const dispatch = await startDispatch(api.ledger, {
    channels: { mail: createMailChannel(api.ledger.ports, 'https://keys.example') },
  })
  const notification = purchase('mailed', { sold: { productId: 'editor' } }).sold()
  await receiveNotification(api.ledger.ports, tenant.tenantId, notification, '{}', origin)
  await vi.waitUntil(() => portal.mailsTo('mailed@example.com').length > 0, { interval: 5, timeout: 30_000 })
  const { body } = await api.ask('GET', '/v1/customers?email=mailed@example.com', { token: tenant.token })
  const [customer] = (body as { items: { id: string }[] }).items
  const page = async () => wordsOf(await client.get(`/dashboard/customers/${customer?.id}`))
  await expect.poll(page).toMatch(/license\.created.*the customer.*delivered 1 attempt/)
  await dispatch.stop()
  const other = await makeCustomer(api.ask, tenant.token)
  expect(wordsOf(await client.get(`/dashboard/customers/${other}`))).toContain(
    'No emails about the licenses.',
  )
})

test('sign-ins to the portal are shown for 90 days', async () => {
  const { api } = portal
  const { email, page } = await buyer('visitor')
  expect(wordsOf(await client.get(page))).toContain('No visits in the last 90 days.')
  const visitor = await portal.signedIn(email)
  expect(wordsOf(await client.get(page))).toMatch(/Signed out.*UTC\s*just now\s*no /)
  await visitor.get(portal.home)
  await visitor.post(`${portal.home}/sign-out`)
  expect(wordsOf(await client.get(page))).not.toMatch(/just now\s*no /)
  for (const [days, isKept] of [
    [89, true],
    [3, false],
  ] as const) {
    api.ledger.clock.advance(days * day)
    await sweep(api.ledger.db, api.ledger.clock.now())
    await client.signIn(await makeMember(api.ledger, portal.tenant.tenantId, 'support'))
    expect(wordsOf(await client.get(page)).includes('No visits')).toBe(!isKept)
  }
})

test('more licenses cost no more queries', async () => {
  const { api, tenant } = portal
  const { page } = await buyer('queried')
  const query = vi.spyOn(api.ledger.db, 'query')
  const queriesOf = async () => {
    await client.get(page)
    query.mockClear()
    expect((await client.get(page)).status).toBe(200)
    return query.mock.calls.length
  }
  const few = await queriesOf()
  for (let more = 0; more < 5; more++) {
    const { licenseKey } = await mint(api.ask, tenant.token, 'editor', { email: 'queried@example.com' })
    await call('activate', licenseKey, `more-${more}`)
  }
  expect(await queriesOf()).toBe(few)
  query.mockRestore()
})
