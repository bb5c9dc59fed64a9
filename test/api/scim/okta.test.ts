/**
 * Guarantee: the requests that Okta sends, in the form in which Okta's reference for SCIM 2.0 shows them, create, deactivate,
 * reactivate and change users, and push groups, with the answers that it expects.
 */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { findCredentialsByEmail } from '../../../src/access/credentials.ts'
import { sameMailbox } from '../../../src/access/fingerprint.ts'
import { makeMember } from '../../dashboard/members.ts'
import { makeTenant, openTestApi, type TestApi, type TestTenant } from '../../harness/api.ts'
import { type Directory, openDirectory } from './directory.ts'

let api: TestApi
let tenant: TestTenant
let okta: Directory
beforeAll(async () => {
  api = await openTestApi()
  tenant = await makeTenant(api.ledger)
  okta = await openDirectory(api, tenant)
})
afterAll(() => api.close())

const posted = {
  schemas: ['urn:ietf:params:scim:schemas:core:2.0:User'],
  userName: 'test.user@okta.local',
  name: { givenName: 'Test', familyName: 'User' },
  emails: [{ primary: true, value: 'test.user@okta.local', type: 'work' }],
  displayName: 'Test User',
  locale: 'en-US',
  externalId: '00ujl29u0le5T6Aj10h7',
  groups: [],
  password: '1mz050nq',
  active: true,
}

const byName = '/Users?filter=userName%20eq%20%22test.user%40okta.local%22&startIndex=1&count=100'

test('a user is looked up, created, changed by PUT, deactivated and reactivated', async () => {
  expect((await okta.ask('GET', byName)).body).toMatchObject({ totalResults: 0, Resources: [] })
  const made = await okta.ask('POST', '/Users', posted)
  expect(made.status).toBe(201)
  const { password: _, locale: __, ...kept } = posted
  expect(made.body).toMatchObject(kept)
  expect(made.text).not.toMatch(/1mz050nq|en-US/)
  const { id } = made.body as { id: string }
  expect(await okta.ask('POST', '/Users', posted)).toMatchObject({
    status: 409,
    body: { status: '409', scimType: 'uniqueness' },
  })
  expect((await okta.ask('GET', byName)).body).toMatchObject({ totalResults: 1, Resources: [{ id }] })
  const put = await okta.ask('PUT', `/Users/${id}`, {
    ...kept,
    id,
    name: { givenName: 'Another', middleName: 'Excited', familyName: 'User' },
    emails: [{ ...posted.emails[0], display: 'test.user@okta.local' }],
    meta: { resourceType: 'User' },
  })
  expect(put).toMatchObject({ status: 200, body: { name: { givenName: 'Another' }, active: true } })
  const off = await okta.patch(`/Users/${id}`, { op: 'replace', value: { active: false } })
  expect(off).toMatchObject({ status: 200, body: { active: false } })
  expect((await okta.ask('GET', byName)).body).toMatchObject({ Resources: [{ id, active: false }] })
  const on = await okta.ask('PUT', `/Users/${id}`, { ...kept, id, active: true })
  expect(on).toMatchObject({ status: 200, body: { id, active: true } })
})

test('users are read page by page in one order', async () => {
  for (const name of ['a', 'b', 'c']) await okta.user(`page-${name}@okta.local`)
  type Page = { totalResults: number; itemsPerPage: number; Resources: { id: string }[] }
  const page = async (startIndex: number, count: number) =>
    (await okta.ask('GET', `/Users?startIndex=${startIndex}&count=${count}`)).body as Page
  const all = await page(1, 100)
  const parts = []
  for (let at = 1; at <= all.totalResults; at += 2) parts.push(...(await page(at, 2)).Resources)
  expect(parts).toStrictEqual(all.Resources)
  expect(await page(1, 0)).toMatchObject({ totalResults: all.totalResults, itemsPerPage: 0, Resources: [] })
  expect(await page(-5, -5)).toMatchObject({ startIndex: 1, itemsPerPage: 0 })
})

test('a group is pushed, renamed, changed, replaced and deleted', async () => {
  const one = await okta.user('one@okta.local')
  const two = await okta.user('two@okta.local')
  const members = async (id: string) => {
    const { body } = await okta.ask('GET', `/Groups/${id}`)
    return (body as { members: { value: string }[] }).members.map(({ value }) => value)
  }
  const schemas = ['urn:ietf:params:scim:schemas:core:2.0:Group']
  const made = await okta.ask('POST', '/Groups', { schemas, displayName: 'Test SCIMv2', members: [] })
  const { id } = made.body as { id: string }
  const rename = { op: 'replace', value: { id, displayName: 'Test SCIMv20' } }
  expect((await okta.patch(`/Groups/${id}`, rename)).status).toBe(204)
  const add = { op: 'add', path: 'members', value: [{ value: one, display: 'one@okta.local' }] }
  await okta.patch(`/Groups/${id}`, add)
  const swap = [
    { op: 'remove', path: `members[value eq "${one}"]` },
    { op: 'add', path: 'members', value: [{ value: two, display: 'two@okta.local' }] },
  ]
  await okta.patch(`/Groups/${id}`, ...swap)
  expect(await members(id)).toStrictEqual([two])
  const all = [{ value: one }, { value: two }]
  await okta.patch(`/Groups/${id}`, { op: 'replace', path: 'members', value: all })
  expect(new Set(await members(id))).toStrictEqual(new Set([one, two]))
  const put = await okta.ask('PUT', `/Groups/${id}`, {
    schemas,
    displayName: 'Put',
    members: [{ value: one }],
  })
  expect(put).toMatchObject({ status: 200, body: { displayName: 'Put', members: [{ value: one }] } })
  expect((await okta.ask('POST', '/Groups', { displayName: 'put' })).body).toMatchObject({
    scimType: 'uniqueness',
  })
  await okta.patch(`/Groups/${id}`, { op: 'remove', path: 'members' })
  expect(await members(id)).toStrictEqual([])
  expect((await okta.ask('DELETE', `/Groups/${id}`)).status).toBe(204)
})

test('a member who was invited is found by their address, and signs in with the new one after a rename', async () => {
  const { memberId, email } = await makeMember(api.ledger, tenant.tenantId, 'developer')
  const found = await okta.ask('GET', `/Users?filter=${encodeURIComponent(`userName eq "${email}"`)}`)
  expect(found.body).toMatchObject({ Resources: [{ id: memberId, userName: email, active: true }] })
  const userName = 'renamed-member@okta.local'
  const taken = await okta.user('taken-name@okta.local')
  const rename = (name: string) =>
    okta.patch(`/Users/${memberId}`, { op: 'replace', value: { userName: name } })
  expect(await rename('taken-name@okta.local')).toMatchObject({
    status: 409,
    body: { scimType: 'uniqueness' },
  })
  expect(await rename(userName)).toMatchObject({
    status: 200,
    body: { userName, emails: [{ value: userName }] },
  })
  expect((await okta.ask('GET', `/Users/${taken}`)).body).toMatchObject({ userName: 'taken-name@okta.local' })
  const credentialsOf = async (address: string) => {
    const index = api.ledger.ports.fingerprint('email', sameMailbox(address))
    return (await findCredentialsByEmail(api.ledger.db, index)).map((found) => found.memberId)
  }
  expect(await credentialsOf(userName)).toStrictEqual([memberId])
  expect(await credentialsOf(email)).toStrictEqual([])
})

test('nothing of a person is in clear in the log or the read models', async () => {
  await okta.user('sealed@okta.local', {
    externalId: 'sealed-external-id',
    displayName: 'Sealed Name',
    name: { givenName: 'Sealed-Given' },
  })
  const { entries } = await api.ledger.ports.ledger.readPage(undefined, 10_000)
  const { rows } = await api.ledger.db.query(
    'select to_jsonb(m)::text as row from members m union all select to_jsonb(s)::text from scim s union all select to_jsonb(a)::text from audit a',
  )
  const written = JSON.stringify([entries, rows], (_name, value: unknown) =>
    typeof value === 'bigint' ? String(value) : value,
  )
  expect(written).toContain('MemberProvisioned')
  expect(written).not.toMatch(/sealed@okta|sealed-external-id|Sealed Name|Sealed-Given/i)
})
