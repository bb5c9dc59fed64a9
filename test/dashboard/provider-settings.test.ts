/**
 * Guarantee: an owner says on the pages of the settings which providers members and customers sign in with, and is told what does not fit.
 */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { listSignInProviders } from '../../projections/sign-in-providers.ts'
import { makeTenant, openTestApi, type TestApi, type TestTenant } from '../harness/api.ts'
import { makeCustomer } from '../http/samples.ts'
import { type Client, clientOf } from './client.ts'
import { makeMember } from './members.ts'

let api: TestApi
let tenant: TestTenant
let owner: Client
let customerId: string
const path = '/dashboard/settings/sign-in'

beforeAll(async () => {
  api = await openTestApi()
  tenant = await makeTenant(api.ledger)
  owner = clientOf(api.app)
  await owner.signIn(await makeMember(api.ledger, tenant.tenantId, 'owner'))
  customerId = await makeCustomer(api.ask, tenant.token)
})
afterAll(() => api.close())

const fields = {
  id: 'okta',
  issuer: 'https://public.example.com',
  clientSecret: 'a secret',
  clientId: 'keyledger',
  name: 'Acme Okta',
  domains: 'acme.example',
  audience: 'customers',
  roleClaim: '',
  roles: '',
  defaultRole: '',
}

const operationIn = (text: string): string => /name="operation" value="([^"]+)"/.exec(text)?.[1] ?? ''

async function send(to: string, from: string, more: Record<string, string>) {
  const { text } = await owner.get(from)
  return owner.post(to, { operation: operationIn(text), ...more })
}
const add = (more: Record<string, string>) => send(path, `${path}/new`, { ...fields, ...more })
const providers = async () => (await listSignInProviders(api.ledger.db, tenant.tenantId)).providers

test('a customer who is no organization, an unknown one, and roles of members are refused at their fields', async () => {
  for (const [more, problem] of [
    [{ customerId: 'cus_00000000000000000000000000' }, 'No customer has this ID.'],
    [{ customerId: 'nobody' }, 'No customer has this ID.'],
    [{ customerId }, 'This customer is not an organization.'],
    [{ defaultRole: 'member' }, 'Members get roles of members'],
    [{ audience: 'members', defaultRole: 'member' }, 'Members get roles of members'],
    [{ roles: 'it: administrator' }, 'Members get roles of members'],
  ] as const) {
    const seen = await add(more)
    expect(seen.text).toContain(problem)
    expect(seen.text).not.toContain('a secret')
  }
  expect(await providers()).toStrictEqual([])
})

test('a provider of an organization is added, shown, changed and deleted', async () => {
  await api.ask('POST', `/v1/customers/${customerId}/organization`, { token: tenant.token })
  const roles = { roleClaim: 'groups', roles: 'it: administrator', defaultRole: 'member' }
  expect(await add({ customerId, ...roles })).toMatchObject({ status: 303, location: `${path}/okta` })
  expect(await providers()).toMatchObject([
    { providerId: 'okta', audience: { customerId }, roles: [{ value: 'it', role: 'administrator' }] },
  ])
  const { text } = await owner.get(`${path}/okta`)
  expect(text).toContain(`/portal/${tenant.tenantId}/sign-in/okta/callback`)
  expect(text).toContain(`/dashboard/customers/${customerId}`)
  expect(text).not.toContain('value="owner"')
  const listed = await owner.get(path)
  expect(listed.text).toContain('One organization')
  const change = { ...fields, ...roles, defaultRole: '' }
  expect((await send(`${path}/okta`, `${path}/okta`, change)).status).toBe(303)
  expect(await providers()).toMatchObject([{ defaultRole: null, roleClaim: 'groups' }])
  const wrong = await send(`${path}/okta`, `${path}/okta`, { ...change, defaultRole: 'owner' })
  expect(wrong.text).toContain('Members get roles of members')
  expect((await send(`${path}/okta/delete`, `${path}/okta`, {})).status).toBe(303)
  expect(await providers()).toStrictEqual([])
})

test('a provider of all customers has no fields for roles, and does not let members be held to providers', async () => {
  expect((await add({ id: 'everyone' })).status).toBe(303)
  const { text } = await owner.get(`${path}/everyone`)
  expect(text).not.toContain('name="roleClaim"')
  const change = { clientId: 'other', name: 'Everyone', domains: 'acme.example' }
  expect((await send(`${path}/everyone`, `${path}/everyone`, change)).status).toBe(303)
  expect(await providers()).toMatchObject([
    { name: 'Everyone', clientId: 'other', roleClaim: null, roles: [] },
  ])
  await owner.get(path)
  const rule = await owner.post(`${path}/rule`, { rule: 'providers' })
  expect(rule.text).toContain('no sign-in provider for members')
})
