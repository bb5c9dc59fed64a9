/**
 * Guarantee: an owner maps the groups of a directory on a page, by the same rules as through the API; only an owner creates a token
 * for a directory, and it has no other scope. The pages of members show who has no access.
 */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openDirectory } from '../api/scim/directory.ts'
import { makeTenant, openTestApi, type TestApi, type TestTenant } from '../harness/api.ts'
import { type Client, clientOf } from './client.ts'
import { fieldsOf, wordsOf } from './forms.ts'
import { makeMember } from './members.ts'

let api: TestApi
let tenant: TestTenant
let owner: Client
let admin: Client
beforeAll(async () => {
  api = await openTestApi()
  tenant = await makeTenant(api.ledger)
  const signedIn = async (role: 'owner' | 'admin') => {
    const client = clientOf(api.app)
    await client.signIn(await makeMember(api.ledger, tenant.tenantId, role))
    return client
  }
  owner = await signedIn('owner')
  admin = await signedIn('admin')
})
afterAll(() => api.close())

const path = '/dashboard/settings/directory'

test('roles are set for groups, and members without access are shown', async () => {
  const directory = await openDirectory(api, tenant)
  const id = await directory.user('ada@acme.example')
  await directory.group('Support: Europe', [id])
  expect(wordsOf(await owner.get('/dashboard/members'))).toContain('no access')
  expect(wordsOf(await owner.get(`/dashboard/members/${id}`))).toContain('no group gives a role')
  const fields = fieldsOf(await owner.get(path))
  const wrong = await owner.post(path, { ...fields, roles: 'Support: Europe' })
  expect(wrong.status).toBe(422)
  expect(wordsOf(wrong)).toContain('Write each line as group: role.')
  const set = { ...fields, roles: 'Support: Europe: support', defaultRole: '' }
  expect(await owner.post(path, set)).toMatchObject({ status: 303, location: path })
  expect(await owner.post(path, set)).toMatchObject({ status: 303, location: path })
  expect(fieldsOf(await owner.get(path))).toMatchObject({ roles: 'Support: Europe: support' })
  expect(wordsOf(await owner.get('/dashboard/settings'))).toContain('Groups with a role 1')
  expect(wordsOf(await owner.get('/dashboard/members'))).not.toContain('no access')
  expect((await admin.get(path)).status).toBe(403)
})

test('only an owner creates a token for a directory, with no other scope', async () => {
  const form = async (client: Client) => fieldsOf(await client.get('/dashboard/tokens/new'))
  expect((await admin.get('/dashboard/tokens/new')).text).not.toContain('value="scim"')
  expect((await owner.get('/dashboard/tokens/new')).text).toContain('value="scim"')
  const post = async (client: Client, ...scopes: string[]) => {
    const body = new URLSearchParams({ ...(await form(client)), name: 'Entra' })
    body.delete('scopes')
    for (const scope of scopes) body.append('scopes', scope)
    return client.send({
      method: 'POST',
      url: '/dashboard/tokens',
      payload: body.toString(),
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
    })
  }
  expect(wordsOf(await post(admin, 'scim'))).toContain(
    'Only an owner can create a token with the scope scim.',
  )
  expect(wordsOf(await post(owner, 'scim', 'licenses:read'))).toContain('Choose scim alone')
  expect(wordsOf(await post(owner, 'scim'))).toContain('Entra')
})
