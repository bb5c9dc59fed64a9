/** Members who may change customers make a customer an organization and change its people on pages; others read who is in it. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { makeTenant, openTestApi, type TestApi, type TestTenant } from '../harness/api.ts'
import { makeCustomer } from '../http/samples.ts'
import { openPortalOf } from '../portal/customer.ts'
import { type Client, clientOf } from './client.ts'
import { wordsOf } from './forms.ts'
import { makeMember } from './members.ts'

let api: TestApi
let tenant: TestTenant
let client: Client
let own: string
beforeAll(async () => {
  api = await openTestApi()
  tenant = await makeTenant(api.ledger)
  client = clientOf(api.app)
  await client.signIn(await makeMember(api.ledger, tenant.tenantId, 'support'))
  own = `/dashboard/customers/${await makeCustomer(api.ask, tenant.token, { email: 'ada@example.com' })}`
})
afterAll(() => api.close())

type Person = { id: string; email: string; role: string; invitedAt: string | null }
const people = async () => {
  const path = `${own.replace('/dashboard', '/v1')}/people`
  return ((await api.ask('GET', path, { token: tenant.token })).body as { items: Person[] }).items
}
const idOf = async (email: string) => (await people()).find((person) => person.email === email)?.id ?? ''
const list = { list: 'grace@example.com, Grace Hopper, administrator\nlinus@example.com', language: 'de' }

test('a customer becomes an organization with its person as the administrator', async () => {
  expect(wordsOf(await client.get(own))).toContain('Make this an organization')
  expect(await client.post(`${own}/organization`)).toMatchObject({ status: 303, location: `${own}/people` })
  expect(wordsOf(await client.get(own))).toContain('An organization with 1 person')
  expect(await people()).toMatchObject([{ email: 'ada@example.com', role: 'administrator' }])
})

test('a list of people is added, with invitations while the portal is open', async () => {
  await client.get(`${own}/people`)
  const closed = await client.post(`${own}/people`, { ...list, invite: 'on' })
  expect([closed.status, wordsOf(closed).includes('The portal is off')]).toStrictEqual([422, true])
  const wrong = await client.post(`${own}/people`, { ...list, list: 'grace@example.com\nLinus' })
  expect([wrong.status, wordsOf(wrong).includes('Line 2 does not begin')]).toStrictEqual([422, true])
  expect(await people()).toHaveLength(1)
  expect((await client.post(`${own}/people`, list)).status).toBe(303)
  expect((await people()).map(({ email, role }) => [email, role]).toSorted()).toStrictEqual([
    ['ada@example.com', 'administrator'],
    ['grace@example.com', 'administrator'],
    ['linus@example.com', 'member'],
  ])
  expect((await people()).filter(({ invitedAt }) => invitedAt !== null)).toStrictEqual([])
})

test('a person is invited again, gets another role and is removed', async () => {
  await openPortalOf(api.app, tenant.token)
  const [personId, ada] = [await idOf('linus@example.com'), await idOf('ada@example.com')]
  expect((await client.post(`${own}/people/invite`, { personId })).status).toBe(303)
  expect(wordsOf(await client.post(`${own}/people/invite`, { personId }))).toContain(
    'invited within the last hour',
  )
  expect((await client.post(`${own}/people/role`, { personId, role: 'administrator' })).status).toBe(303)
  expect((await client.post(`${own}/people/role`, { personId: ada, role: 'member' })).status).toBe(303)
  expect((await client.post(`${own}/people/remove`, { personId: ada })).status).toBe(303)
  expect((await client.post(`${own}/people/remove`, { personId: ada })).status).toBe(404)
  expect(await people()).toHaveLength(2)
  const { text } = await client.get(`${own}/people?after=${personId}`)
  expect(text).not.toContain('linus@example.com')
})

test('an auditor reads who is in it, without buttons', async () => {
  const auditor = clientOf(api.app, '10.0.0.9')
  await auditor.signIn(await makeMember(api.ledger, tenant.tenantId, 'auditor'))
  const { text } = await auditor.get(`${own}/people`)
  expect(text).toContain('grace@example.com')
  expect(text).not.toContain(`action="${own}`)
  for (const path of ['people', 'people/role', 'people/remove', 'people/invite', 'organization'])
    expect((await auditor.post(`${own}/${path}`, list)).status).toBe(403)
})

test('it is not merged into another customer, and dissolved', async () => {
  const other = await makeCustomer(api.ask, tenant.token, { email: 'other@example.com' })
  await client.get(`${own}/merge`)
  expect(wordsOf(await client.post(`${own}/merge`, { customerId: other }))).toContain(
    'This customer is an organization',
  )
  expect(await client.post(`${own}/organization/dissolve`)).toMatchObject({ status: 303, location: own })
  expect(await people()).toStrictEqual([])
})
