/**
 * Guarantee: a license is minted on a page by the same rules as through the API, once for a form that is sent twice;
 * its key is shown in that response and on no other page.
 */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { suspendTenant } from '../../src/commands/tenants.ts'
import { makeTenant, openTestApi, type TestApi, type TestTenant } from '../harness/api.ts'
import { origin } from '../harness/ledger.ts'
import { makeCustomer, makeProduct } from '../http/samples.ts'
import { type Client, clientOf, type Seen } from './client.ts'
import { fieldsOf, wordsOf } from './forms.ts'
import { makeMember } from './members.ts'

let api: TestApi
let tenant: TestTenant
let client: Client
beforeAll(async () => {
  api = await openTestApi()
  tenant = await makeTenant(api.ledger)
  client = clientOf(api.app)
  await client.signIn(await makeMember(api.ledger, tenant.tenantId, 'support'))
})
afterAll(() => api.close())

const list = '/dashboard/licenses'
const form = (query = '') => client.get(`/dashboard/new-license${query}`)
const keyOf = ({ text }: Seen): string => /id="secret"[^>]*value="([^"]+)"/.exec(text)?.[1] ?? ''
const licenses = async () => {
  const { body } = await api.ask('GET', '/v1/licenses', { token: tenant.token })
  return (body as { items: Record<string, unknown>[] }).items
}

test('without a product there is nothing to mint', async () => {
  expect(wordsOf(await form())).toContain('No products yet')
  expect((await client.get(list)).text).toContain('href="/dashboard/new-license"')
})

test('a form that is sent twice mints one license, and shows its key both times', async () => {
  const keyTypes = [{ name: 'Pro' }, { name: 'Team', deviceLimit: 2, sellInMultiples: true }]
  await makeProduct(api.ask, tenant.token, 'editor', { name: 'Editor', keyTypes })
  const fields = {
    ...fieldsOf(await form('?product=editor')),
    sold: 'editor/team',
    email: 'ada@example.com',
    name: 'Ada',
    quantity: '3',
    expiry: 'day',
    expiresOn: '2040-02-29',
    metadata: 'order: A-1\nnote: see: A-2',
  }
  const first = await client.post(list, fields)
  expect(first.status).toBe(200)
  const again = await client.post(list, fields)
  expect(keyOf(again)).toBe(keyOf(first))
  const [license, ...others] = await licenses()
  expect(others).toStrictEqual([])
  expect(license).toMatchObject({
    productId: 'editor',
    keyTypeId: 'team',
    email: 'ada@example.com',
    quantity: 3,
    deviceLimit: 6,
    expiresAt: '2040-02-29T23:59:59.000Z',
    metadata: { order: 'A-1', note: 'see: A-2' },
  })
  const body = { product_id: 'editor', license_key: keyOf(first), device_id: 'd' }
  const activated = await api.ask('POST', '/v1/licenses/activate', { token: tenant.token, body })
  expect(activated.body).toMatchObject({ activated: true })
  expect((await client.get(`${list}/${String(license?.id)}`)).text).not.toContain(keyOf(first))
})

test('from a customer the license is linked to them', async () => {
  const customerId = await makeCustomer(api.ask, tenant.token, { email: 'grace@example.com', name: 'Grace' })
  const filled = fieldsOf(await form(`?customer=${customerId}`))
  expect(filled).toMatchObject({ customerId, email: 'grace@example.com', name: 'Grace', sold: 'editor/pro' })
  api.ledger.clock.advance(1000)
  const seen = await client.post(list, { ...filled, expiry: 'never', deviceLimit: 'Unlimited' })
  expect(seen.text).toContain(`/dashboard/customers/${customerId}`)
  const [license] = await licenses()
  expect(license).toMatchObject({ customerId, deviceLimit: null, expiresAt: null })
})

test('a customer is named by an address, or chosen among those whose name matches', async () => {
  const make = (name: string) =>
    makeCustomer(api.ask, tenant.token, {
      email: `${name.toLowerCase()}@lovelace.example`,
      name: `${name} Lovelace`,
    })
  const [ada, byron] = [await make('Ada'), await make('Byron')]
  const fields = { ...fieldsOf(await form()), sold: 'editor/pro' }
  const none = await client.post(list, { ...fields, customerId: 'nobody at all' })
  expect(none.status).toBe(422)
  expect(wordsOf(none)).toContain('No customer matches.')
  const several = await client.post(list, { ...fields, customerId: 'lovelace' })
  expect(several.status).toBe(422)
  expect(wordsOf(several)).toContain('Several customers match. Choose one.')
  expect(wordsOf(several)).toContain(`Byron Lovelace, byron@lovelace.example, ${byron}`)
  const offered = fieldsOf(several)
  // A choice counts only for the text that it was offered for.
  const other = await client.post(list, { ...offered, customerId: 'nobody at all', customerIdChoice: byron })
  expect(wordsOf(other)).toContain('No customer matches.')
  const late = await client.post(list, {
    ...offered,
    customerIdChoice: byron,
    expiry: 'day',
    expiresOn: '2020-01-01',
  })
  expect(fieldsOf(late)).toMatchObject({ customerId: byron })
  const chosen = await client.post(list, { ...offered, customerIdChoice: byron })
  expect(chosen.text).toContain(`/dashboard/customers/${byron}`)
  const named = await client.post(list, {
    ...fieldsOf(await form()),
    sold: 'editor/pro',
    customerId: ' Ada@Lovelace.example ',
  })
  expect(named.text).toContain(`/dashboard/customers/${ada}`)
})

test('what the rules refuse stands beside its field, and mints nothing', async () => {
  const before = await licenses()
  const fields = { ...fieldsOf(await form()), sold: 'editor/pro' }
  const refused = async (changes: Record<string, string>, sentence: string) => {
    const seen = await client.post(list, { ...fields, ...changes })
    expect({ changes, status: seen.status }).toStrictEqual({ changes, status: 422 })
    expect(wordsOf(seen)).toContain(sentence)
    expect(fieldsOf(seen)).toMatchObject(changes)
  }
  await refused({ quantity: '2' }, 'This key type is not sold in multiples.')
  await refused({ expiry: 'day', expiresOn: '2020-01-01' }, 'Enter a day in the future.')
  await refused({ expiry: 'day', expiresOn: '2030-02-30' }, 'Enter a day as 2027-11-21.')
  await refused({ customerId: 'cus_nobody' }, 'There is no customer with this ID.')
  await refused({ email: 'nobody' }, 'Enter an email address')
  await refused({ name: 'Ada' }, 'Enter the email address too')
  await refused({ deviceLimit: '0' }, 'Enter a whole number from 1 to 100,000')
  await refused({ metadata: 'order' }, 'Line 1 is not a pair.')
  const foreign = await client.post(list, { ...fields, sold: 'elsewhere/pro' })
  expect(wordsOf(foreign)).toContain('This key type was deleted. Choose another.')
  expect(await licenses()).toStrictEqual(before)
  // After a refusal the same form can be corrected and sent.
  expect((await client.post(list, fields)).status).toBe(200)
})

test('a suspended workspace mints nothing', async () => {
  const fields = fieldsOf(await form())
  await suspendTenant(api.ledger.ports, tenant.tenantId, null, origin)
  expect((await form()).status).toBe(403)
  expect((await client.post(list, fields)).status).toBe(403)
})
