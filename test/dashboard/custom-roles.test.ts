/**
 * Guarantee: an owner makes a role on a page, and gives it to members, to values of a provider and to groups of a directory by its name. It
 * binds the next request of its members, who can neither widen it nor grant an API client more than they have.
 */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import { findMember } from '../../projections/members.ts'
import { changeCustomRole } from '../../src/commands/custom-roles.ts'
import { newId } from '../../src/credentials/id.ts'
import type { Scope } from '../../src/domain/tokens/events.ts'
import { openDirectory } from '../api/scim/directory.ts'
import { makeTenant, openTestApi, type TestApi, type TestTenant } from '../harness/api.ts'
import { origin } from '../harness/ledger.ts'
import { addTestProvider } from '../harness/sign-in-providers.ts'
import { type Client, clientOf } from './client.ts'
import { fieldsOf, wordsOf } from './forms.ts'
import { makeMember, makeRole, type TestMember } from './members.ts'

let api: TestApi
let tenant: TestTenant
let owner: Client
beforeAll(async () => {
  api = await openTestApi()
  tenant = await makeTenant(api.ledger)
  owner = await signedIn(await makeMember(api.ledger, tenant.tenantId, 'owner'))
})
afterAll(() => api.close())

let addresses = 0
async function signedIn(member: TestMember): Promise<Client> {
  const client = clientOf(api.app, `192.0.2.${++addresses}`)
  expect((await client.signIn(member)).status).toBe(303)
  await client.get('/dashboard/account')
  return client
}

const path = '/dashboard/members/roles'
const roleOf = async (memberId: string) => (await findMember(api.ledger.db, tenant.tenantId, memberId))?.role

test('a role is made, given, changed and deleted on pages, and binds the next request', async () => {
  const form = fieldsOf(await owner.get(`${path}/new`))
  const sent = { ...form, name: 'License clerk', scopes: ['licenses:read', 'customers:read'] }
  expect(await owner.post(path, { ...sent, name: 'Owner' })).toMatchObject({ status: 422 })
  expect(await owner.post(path, { ...sent, scopes: ['scim'] })).toMatchObject({ status: 422 })
  for (let time = 0; time < 2; time++)
    expect(await owner.post(path, sent)).toMatchObject({ status: 303, location: path })
  const id = /rol_\w{26}/.exec((await owner.get(path)).text)?.[0] ?? ''
  expect((await owner.get(path)).text.match(/License clerk/g)).toHaveLength(1)

  const clerk = await makeMember(api.ledger, tenant.tenantId, 'support')
  await owner.get(`/dashboard/members/${clerk.memberId}`)
  expect(await owner.post(`/dashboard/members/${clerk.memberId}/role`, { role: id })).toMatchObject({
    status: 303,
  })
  expect(wordsOf(await owner.get(`/dashboard/members/${clerk.memberId}`))).toContain('License clerk')
  const client = await signedIn(clerk)
  expect(wordsOf(await client.get('/dashboard/account'))).toContain('Role License clerk')
  expect((await client.get('/dashboard/customers')).status).toBe(200)
  expect((await client.get('/dashboard/new-license')).status).toBe(403)

  const fields = fieldsOf(await owner.get(`${path}/${id}`))
  expect(fields).toMatchObject({ name: 'License clerk' })
  const wider = ['licenses:read', 'licenses:write', 'customers:read', 'customers:write']
  expect(await owner.post(`${path}/${id}`, { ...fields, scopes: wider })).toMatchObject({ status: 303 })
  expect((await client.get('/dashboard/new-license')).status).toBe(200)
  const narrower = fieldsOf(await owner.get(`${path}/${id}`))
  expect(await owner.post(`${path}/${id}`, { ...narrower, scopes: ['usage:read'] })).toMatchObject({
    status: 303,
  })
  const refused = await client.get('/dashboard/customers')
  expect(refused.status).toBe(403)
  expect(wordsOf(refused)).toContain('lacks the scope customers:read')

  const toDelete = fieldsOf(await owner.get(`${path}/${id}`))
  const inUse = await owner.post(`${path}/${id}/delete`, { operation: toDelete.operation ?? '' })
  expect(inUse.status).toBe(422)
  expect(wordsOf(inUse)).toContain('give them another role first')
  await owner.post(`/dashboard/members/${clerk.memberId}/role`, { role: 'support' })
  const again = fieldsOf(await owner.get(`${path}/${id}`))
  expect(await owner.post(`${path}/${id}/delete`, { operation: again.operation ?? '' })).toMatchObject({
    status: 303,
  })
  expect((await owner.get(`${path}/${id}`)).status).toBe(404)
  await owner.get('/dashboard/members')
  expect((await owner.post(`/dashboard/members/${clerk.memberId}/role`, { role: id })).status).toBe(404)
})

test('a role of another workspace is none here', async () => {
  const other = await makeTenant(api.ledger)
  const { roleId } = await makeRole(api.ledger, other.tenantId, ['danger'])
  const { memberId } = await makeMember(api.ledger, tenant.tenantId, 'support')
  expect((await owner.get(`${path}/${roleId}`)).status).toBe(404)
  await owner.get('/dashboard/members')
  expect((await owner.post(`/dashboard/members/${memberId}/role`, { role: roleId })).status).toBe(404)
  const email = 'new-member@example.com'
  expect((await owner.post('/dashboard/members', { email, role: roleId })).status).toBe(404)
  expect(await roleOf(memberId)).toBe('support')
})

test('a member can neither change a role nor give themselves another', async () => {
  const { roleId } = await makeRole(api.ledger, tenant.tenantId, [
    'danger',
    'integrations:read',
    'integrations:write',
  ])
  const member = await makeMember(api.ledger, tenant.tenantId, roleId)
  const client = await signedIn(member)
  for (const url of [
    path,
    `${path}/${roleId}`,
    `${path}/${roleId}/delete`,
    `/dashboard/members/${member.memberId}/role`,
    '/dashboard/settings/directory',
    '/dashboard/settings/sign-in',
    '/dashboard/settings/approvals',
    '/dashboard/tokens',
  ])
    expect((await client.post(url, { role: 'owner', scopes: ['danger'], name: 'Mine' })).status).toBe(403)
  expect(await roleOf(member.memberId)).toBe(roleId)
})

test('a member grants an API client the scopes of their role, and no others', async () => {
  const { roleId } = await makeRole(api.ledger, tenant.tenantId, ['licenses:read'])
  const client = await signedIn(await makeMember(api.ledger, tenant.tenantId, roleId))
  const asked: Scope[] = ['licenses:read', 'licenses:write']
  const body = { client_name: 'CLI', scopes: asked }
  const Started = z.object({ device_code: z.string(), user_code: z.string() })
  const { device_code, user_code } = Started.parse((await api.ask('POST', '/v1/login/device', { body })).body)
  await client.get('/dashboard/device')
  const { location = '' } = await client.post('/dashboard/device', { code: user_code })
  const shown = await client.get(location)
  expect(wordsOf(shown)).toContain('licenses:write , which your role cannot grant')
  const approve = (scopes: Scope[]) => client.post('/dashboard/device/approve', { scopes, lifetime: '30' })
  expect((await approve(asked)).status).toBe(422)
  expect((await approve(['licenses:read'])).text).toContain('is authorized')
  api.ledger.clock.advance(5000)
  const token = await api.ask('POST', '/v1/login/device/token', { body: { device_code } })
  expect(token.body).toMatchObject({ scopes: ['licenses:read'] })
})

test('no role creates a token with a scope that it may not grant', async () => {
  const client = await signedIn(await makeMember(api.ledger, tenant.tenantId, 'developer'))
  const form = fieldsOf(await client.get('/dashboard/tokens/new'))
  const refused = await client.post('/dashboard/tokens', { ...form, name: 'CI', scopes: ['danger'] })
  expect(wordsOf(refused)).toContain('Your role cannot grant the scope danger.')
})

test('groups of a directory and values of a provider give a role by its name, and show it', async () => {
  const role = await makeRole(api.ledger, tenant.tenantId, ['licenses:read'], 'Night shift')
  const directory = await openDirectory(api, tenant)
  const id = await directory.user('night@acme.example')
  await directory.group('Nights', [id])
  const at = '/dashboard/settings/directory'
  const fields = fieldsOf(await owner.get(at))
  expect(await owner.post(at, { ...fields, roles: 'Nights: night SHIFT' })).toMatchObject({ status: 303 })
  expect(await roleOf(id)).toBe(role.roleId)
  expect(fieldsOf(await owner.get(at))).toMatchObject({ roles: 'Nights: Night shift' })

  await addTestProvider(api.ledger, tenant.tenantId, 'login')
  const login = '/dashboard/settings/sign-in/login'
  const provider = { ...fieldsOf(await owner.get(login)), roles: 'nights: Night shift', clientSecret: '' }
  expect(await owner.post(login, provider)).toMatchObject({ status: 303 })
  expect(fieldsOf(await owner.get(login))).toMatchObject({ roles: 'nights: Night shift' })
  const wrong = await owner.post(login, { ...provider, roles: 'nights: Nobody' })
  expect(wordsOf(wrong)).toContain('Write each line as value: role.')
  const execution = { id: newId('cnf'), origin }
  await changeCustomRole(api.ledger.ports, tenant.tenantId, role.roleId, { name: 'Nights' }, execution)
  expect(fieldsOf(await owner.get(login))).toMatchObject({ roles: 'nights: Nights' })
})
