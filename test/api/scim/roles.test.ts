/**
 * Guarantee: the groups of a directory give roles and access at once, a deactivated member has neither sessions nor tokens, the
 * last owner stays one, and what a crash left undone is done by the next request.
 */
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { findMember } from '../../../projections/members.ts'
import { findSession, saveSession } from '../../../src/access/sessions.ts'
import { changeGroup, removeGroup } from '../../../src/commands/members/directory-groups.ts'
import { addMember } from '../../../src/commands/members/members.ts'
import { createToken } from '../../../src/commands/tokens.ts'
import type { Execute } from '../../../src/ledger/execute.ts'
import { makeTenant, openTestApi, type TestApi, type TestTenant } from '../../harness/api.ts'
import { origin } from '../../harness/ledger.ts'
import { type Directory, openDirectory } from './directory.ts'

let api: TestApi
beforeAll(async () => {
  api = await openTestApi()
})
afterAll(() => api.close())

let tenant: TestTenant
let directory: Directory
let owner: string
beforeEach(async () => {
  tenant = await makeTenant(api.ledger)
  directory = await openDirectory(api, tenant)
  const email = 'owner@acme.example'
  owner = await addMember(api.ledger.ports, { tenantId: tenant.tenantId, role: 'owner', email }, origin)
})

const roleOf = async (id: string) => (await findMember(api.ledger.db, tenant.tenantId, id))?.role

const add = (id: string) => ({ op: 'Add', path: 'members', value: [{ value: id }] })
const remove = (id: string) => ({ op: 'Remove', path: 'members', value: [{ value: id }] })

test('without settings a new user has no access, and gets it with a default role', async () => {
  const id = await directory.user('ada@acme.example')
  expect(await roleOf(id)).toBeUndefined()
  expect((await directory.ask('GET', `/Users/${id}`)).body).toMatchObject({ active: true })
  expect(await directory.setRoles([], 'support')).toMatchObject({ status: 200 })
  expect(await roleOf(id)).toBe('support')
  await directory.setRoles([], null)
  expect(await roleOf(id)).toBe('support')
})

test('the first mapped group gives the role, and without one it is the default role or none', async () => {
  const id = await directory.user('ada@acme.example')
  const [admins, readers] = [await directory.group('Admins', [id]), await directory.group('Readers', [id])]
  const mapped = [
    { group: 'Admins', role: 'admin' },
    { group: 'Readers', role: 'auditor' },
  ] as const
  const set = await directory.setRoles(mapped, null)
  expect(set.body).toStrictEqual({
    scim: {
      baseUrl: 'http://localhost:8080/scim/v2',
      roles: mapped,
      defaultRole: null,
      groups: ['Admins', 'Readers'],
    },
  })
  expect(await roleOf(id)).toBe('admin')
  await directory.patch(`/Groups/${admins}`, remove(id))
  expect(await roleOf(id)).toBe('auditor')
  await directory.patch(`/Groups/${readers}`, { op: 'replace', path: 'displayName', value: 'Others' })
  expect(await roleOf(id)).toBeUndefined()
  await directory.patch(`/Groups/${admins}`, add(id))
  expect(await roleOf(id)).toBe('admin')
  expect((await directory.ask('DELETE', `/Groups/${admins}`)).status).toBe(204)
  expect(await roleOf(id)).toBeUndefined()
  await directory.setRoles(mapped, 'developer')
  expect(await roleOf(id)).toBe('developer')
})

test('a member who was invited keeps their role until the directory puts them into a group', async () => {
  const { ports } = api.ledger
  const person = { tenantId: tenant.tenantId, role: 'admin', email: 'bob@acme.example' } as const
  const id = await addMember(ports, person, origin)
  await directory.setRoles([{ group: 'Support', role: 'support' }], null)
  expect(await roleOf(id)).toBe('admin')
  const group = await directory.group('Support', [id])
  expect(await roleOf(id)).toBe('support')
  await directory.patch(`/Groups/${group}`, remove(id))
  expect(await roleOf(id)).toBeUndefined()
})

test('a deactivated user loses sessions and tokens, and keeps their place', async () => {
  const { ports, db } = api.ledger
  const { tenantId } = tenant
  await directory.setRoles([], 'admin')
  const id = await directory.user('ada@acme.example')
  const session = 'a'.repeat(64)
  const begin = () => saveSession(db, session, { memberId: id, tenantId }, {}, ports.now())
  await begin()
  const { token } = await createToken(
    ports,
    { tenantId, name: 'of Ada', scopes: ['licenses:read'], expiresAt: null },
    { ...origin, actor: `member:${id}` },
  )
  const listed = () => api.ask('GET', '/v1/licenses', { token })
  expect((await listed()).status).toBe(200)
  await directory.patch(`/Users/${id}`, { op: 'Replace', path: 'active', value: 'False' })
  expect(await listed()).toMatchObject({
    status: 401,
    body: {
      error: 'the member who created the token was removed or deactivated; use a token of another member',
    },
  })
  expect(await findSession(db, session, ports.now())).toBeUndefined()
  expect((await directory.ask('GET', '/Users')).body).toMatchObject({ totalResults: 2 })
  await directory.patch(`/Users/${id}`, { op: 'Replace', path: 'active', value: 'True' })
  expect((await listed()).status).toBe(200)
  expect(await findSession(db, session, ports.now())).toBeUndefined()
  expect((await directory.ask('DELETE', `/Users/${id}`)).status).toBe(204)
  expect((await directory.ask('DELETE', `/Users/${id}`)).status).toBe(404)
  const again = await directory.user('ada@acme.example')
  expect(again).not.toBe(id)
})

test('the last owner is neither deactivated nor deleted, and keeps the role whatever the groups are', async () => {
  const lastOwner = { status: 409, body: { detail: expect.stringContaining('at least one owner') as string } }
  const off = { op: 'Replace', path: 'active', value: false }
  expect(await directory.patch(`/Users/${owner}`, off)).toMatchObject(lastOwner)
  expect(await directory.ask('DELETE', `/Users/${owner}`)).toMatchObject(lastOwner)
  await directory.group('Readers', [owner])
  await directory.setRoles([{ group: 'Readers', role: 'auditor' }], null)
  expect(await roleOf(owner)).toBe('owner')
  const second = await directory.user('second@acme.example')
  await directory.group('Owners', [second])
  await directory.setRoles(
    [
      { group: 'Owners', role: 'owner' },
      { group: 'Readers', role: 'auditor' },
    ],
    null,
  )
  expect(await roleOf(second)).toBe('owner')
  await directory.patch(`/Users/${owner}`, { op: 'replace', value: { displayName: 'First' } })
  expect(await roleOf(owner)).toBe('auditor')
  expect((await directory.patch(`/Users/${owner}`, off)).status).toBe(200)
})

test('a kill between the group and the role is repaired by the repetition of the request', async () => {
  const id = await directory.user('ada@acme.example')
  const group = await directory.group('Admins')
  await directory.setRoles([{ group: 'Admins', role: 'admin' }], null)
  const { ports } = api.ledger
  const killed: Execute = (decider, ...rest) => {
    if (decider.category === 'member') throw new Error('killed')
    return ports.execute(decider, ...rest)
  }
  const dying = { ...ports, execute: killed }
  const { tenantId } = tenant
  const groupOf = (memberIds: string[]) =>
    changeGroup(dying, tenantId, group, (before) => ({ ...before, memberIds }), origin)
  await expect(groupOf([id])).rejects.toThrow('killed')
  expect(await roleOf(id)).toBeUndefined()
  await directory.patch(`/Groups/${group}`, add(id))
  expect(await roleOf(id)).toBe('admin')
  await expect(groupOf([])).rejects.toThrow('killed')
  expect(await roleOf(id)).toBe('admin')
  await directory.patch(`/Groups/${group}`, remove(id))
  expect(await roleOf(id)).toBeUndefined()
  await directory.patch(`/Groups/${group}`, add(id))
  await expect(removeGroup(dying, tenantId, group, origin)).rejects.toThrow('killed')
  expect(await roleOf(id)).toBe('admin')
  expect((await directory.ask('DELETE', `/Groups/${group}`)).status).toBe(404)
  expect(await roleOf(id)).toBeUndefined()
})

test('sessions that outlive a kill after the deactivation end with the repetition', async () => {
  const { ports, db } = api.ledger
  await directory.setRoles([], 'admin')
  const id = await directory.user('ada@acme.example')
  const off = { op: 'Replace', path: 'active', value: false }
  await directory.patch(`/Users/${id}`, off)
  const session = 'b'.repeat(64)
  await saveSession(db, session, { memberId: id, tenantId: tenant.tenantId }, {}, ports.now())
  await directory.patch(`/Users/${id}`, off)
  expect(await findSession(db, session, ports.now())).toBeUndefined()
})
