/**
 * Guarantee: the requests that Microsoft Entra sends, in the form in which Microsoft's documentation for SCIM endpoints shows them,
 * create, find, change, deactivate and delete users and groups, with the answers that it expects.
 */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { makeTenant, openTestApi, type TestApi } from '../../harness/api.ts'
import { type Directory, openDirectory } from './directory.ts'

let api: TestApi
let entra: Directory
beforeAll(async () => {
  api = await openTestApi()
  entra = await openDirectory(api, await makeTenant(api.ledger))
})
afterAll(() => api.close())

const userName = 'Test_User_ab6490ee-1e48-479e-a20b-2d77186b5dd1'
const email = 'Test_User_fd0ea19b-0777-472c-9f96-4f70d2226f2e@testuser.com'

const created = {
  schemas: [
    'urn:ietf:params:scim:schemas:core:2.0:User',
    'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User',
  ],
  externalId: '0a21f0f2-8d2a-4f8e-bf98-7363c4aed4ef',
  userName,
  active: true,
  emails: [{ primary: true, type: 'work', value: email }],
  meta: { resourceType: 'User' },
  name: { formatted: 'givenName familyName', familyName: 'familyName', givenName: 'givenName' },
  roles: [],
}

const filtered = (filter: string) => `/Users?filter=${encodeURIComponent(filter)}`

const noUser = {
  schemas: ['urn:ietf:params:scim:api:messages:2.0:ListResponse'],
  totalResults: 0,
  startIndex: 1,
  itemsPerPage: 0,
  Resources: [],
}

test('a user is looked up, created, read, changed, disabled, enabled and deleted', async () => {
  expect((await entra.ask('GET', filtered(`userName eq "${userName}"`))).body).toStrictEqual(noUser)
  const made = await entra.ask('POST', '/Users', created)
  expect(made.status).toBe(201)
  expect(made.headers['content-type']).toBe('application/scim+json; charset=utf-8')
  const { id, meta } = made.body as { id: string; meta: { location: string } }
  const { roles: _, ...kept } = created
  const shown = {
    ...kept,
    schemas: ['urn:ietf:params:scim:schemas:core:2.0:User'],
    id,
    groups: [],
    meta: {
      resourceType: 'User',
      created: expect.any(String) as string,
      lastModified: expect.any(String) as string,
      location: `http://localhost:8080/scim/v2/Users/${id}`,
    },
  }
  expect(made.body).toStrictEqual(shown)
  expect(made.headers.location).toBe(meta.location)
  for (const filter of [
    `userName eq "${userName}"`,
    `userName eq "${userName.toUpperCase()}"`,
    `externalId eq "${created.externalId}"`,
    `emails[type eq "work"].value eq "${email}"`,
    `emails.value eq "${email}"`,
    `id eq "${id}" and active eq true`,
  ]) {
    const found = await entra.ask('GET', filtered(filter))
    expect(found.body, filter).toMatchObject({ totalResults: 1, Resources: [shown] })
  }
  expect((await entra.ask('GET', `/Users/${id}`)).body).toStrictEqual(shown)

  const changed = await entra.patch(
    `/Users/${id}`,
    { op: 'Replace', path: 'emails[type eq "work"].value', value: 'updatedEmail@microsoft.com' },
    { op: 'Replace', path: 'name.familyName', value: 'updatedFamilyName' },
  )
  expect(changed).toMatchObject({
    status: 200,
    body: {
      userName,
      name: { familyName: 'updatedFamilyName', givenName: 'givenName' },
      emails: [{ value: 'updatedEmail@microsoft.com', type: 'work', primary: true }],
    },
  })
  const renamed = '5b50642d-79fc-4410-9e90-4c077cdd1a59@testuser.com'
  const single = { op: 'Replace', path: 'userName', value: renamed }
  expect(await entra.patch(`/Users/${id}`, single)).toMatchObject({
    status: 200,
    body: { userName: renamed, emails: [{ value: 'updatedEmail@microsoft.com' }] },
  })

  const disabled = await entra.patch(`/Users/${id}`, { op: 'Replace', path: 'active', value: false })
  expect(disabled).toMatchObject({ status: 200, body: { id, active: false } })
  // Without the flag aadOptscim062020, booleans are text.
  const enabled = await entra.patch(`/Users/${id}`, { op: 'Replace', path: 'active', value: 'True' })
  expect(enabled).toMatchObject({ status: 200, body: { id, active: true } })
  expect((await entra.ask('DELETE', `/Users/${id}`)).status).toBe(204)
  expect(await entra.ask('GET', `/Users/${id}`)).toMatchObject({
    status: 404,
    body: { schemas: ['urn:ietf:params:scim:api:messages:2.0:Error'], status: '404' },
  })
})

test('several attributes are added without a path, under names with conditions, and others are ignored', async () => {
  const id = await entra.user('plain@testuser.com')
  const added = await entra.patch(`/Users/${id}`, {
    op: 'Add',
    value: {
      displayName: 'Ada',
      'name.givenName': 'Ada',
      'emails[type eq "work"].value': 'ada@testuser.com',
      'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User:department': 'Licensing',
      title: 'Countess',
    },
  })
  expect(added).toMatchObject({
    status: 200,
    body: { displayName: 'Ada', name: { givenName: 'Ada' }, emails: [{ value: 'ada@testuser.com' }] },
  })
  expect(added.text).not.toMatch(/Licensing|Countess/)
  const department = 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User:department'
  const ignored = await entra.patch(`/Users/${id}`, { op: 'Add', path: department, value: 'Licensing' })
  expect(ignored).toMatchObject({ status: 200, body: { displayName: 'Ada' } })
})

test('a group is created, found, renamed, filled, emptied and deleted', async () => {
  const made = await entra.ask('POST', '/Groups', {
    schemas: [
      'urn:ietf:params:scim:schemas:core:2.0:Group',
      'http://schemas.microsoft.com/2006/11/ResourceManagement/ADSCIM/2.0/Group',
    ],
    externalId: '8aa1a0c0-c4c3-4bc0-b4a5-2ef676900159',
    displayName: 'displayName',
    meta: { resourceType: 'Group' },
  })
  expect(made.status).toBe(201)
  expect(made.body).toMatchObject({ displayName: 'displayName', members: [] })
  const { id } = made.body as { id: string }
  const read = await entra.ask('GET', `/Groups/${id}?excludedAttributes=members`)
  expect(read.body).toHaveProperty('displayName', 'displayName')
  expect(read.body).not.toHaveProperty('members')
  const found = (name: string) =>
    entra.ask(
      'GET',
      `/Groups?excludedAttributes=members&filter=${encodeURIComponent(`displayName eq "${name}"`)}`,
    )
  expect((await found('displayName')).body).toMatchObject({ totalResults: 1, Resources: [{ id }] })

  const name = '1879db59-3bdf-4490-ad68-ab880a269474updatedDisplayName'
  const rename = { op: 'Replace', path: 'displayName', value: name }
  expect(await entra.patch(`/Groups/${id}`, rename)).toMatchObject({ status: 204, text: '' })
  expect((await found('displayName')).body).toMatchObject({ totalResults: 0 })

  const member = await entra.user('member@testuser.com')
  const reference = [{ $ref: null, value: member }]
  const add = { op: 'Add', path: 'members', value: reference }
  expect((await entra.patch(`/Groups/${id}`, add)).status).toBe(204)
  const filter = encodeURIComponent(`id eq "${id}" and members eq "${member}"`)
  const asked = () => entra.ask('GET', `/Groups?excludedAttributes=members&filter=${filter}`)
  expect((await asked()).body).toMatchObject({ totalResults: 1 })
  expect((await entra.ask('GET', `/Users/${member}`)).body).toMatchObject({
    groups: [{ value: id, display: name }],
  })
  const remove = { op: 'Remove', path: 'members', value: reference }
  expect((await entra.patch(`/Groups/${id}`, remove)).status).toBe(204)
  expect((await asked()).body).toMatchObject({ totalResults: 0 })
  expect((await entra.ask('DELETE', `/Groups/${id}`)).status).toBe(204)
  expect((await entra.ask('GET', `/Groups/${id}`)).status).toBe(404)
})

test('its test of the connection finds what is supported', async () => {
  const config = await entra.ask('GET', '/ServiceProviderConfig')
  expect(config.body).toMatchObject({
    patch: { supported: true },
    bulk: { supported: false },
    filter: { supported: true, maxResults: 200 },
    changePassword: { supported: false },
    sort: { supported: false },
    etag: { supported: false },
  })
  expect((await entra.ask('GET', '/ResourceTypes/User')).body).toMatchObject({ endpoint: '/Users' })
  const schemas = await entra.ask('GET', '/Schemas')
  expect(schemas.body).toMatchObject({ totalResults: 2, Resources: [{ name: 'User' }, { name: 'Group' }] })
  expect(schemas.text).not.toContain('null')
  const group = await entra.ask('GET', '/Schemas/urn:ietf:params:scim:schemas:core:2.0:Group')
  expect(group.body).toMatchObject({ name: 'Group' })
})
