/**
 * Guarantee: custom roles are changed only with the approval of an owner. A changed role binds the next request of each token that a member
 * with it created. A role that a member has, or that a provider or the directory gives, is not deleted.
 */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import { rebuild } from '../../../projections/runner/rebuild.ts'
import { changeCustomRole, removeCustomRole } from '../../../src/commands/custom-roles.ts'
import { changeRole } from '../../../src/commands/members/members.ts'
import { changeProvider } from '../../../src/commands/sign-in-providers.ts'
import { createToken } from '../../../src/commands/tokens.ts'
import { newId } from '../../../src/credentials/id.ts'
import { approve } from '../../../src/gate/approvals.ts'
import { makeMember, makeRole } from '../../dashboard/members.ts'
import { makeTenant, openTestApi, type TestApi, type TestTenant } from '../../harness/api.ts'
import { askApproveRepeat, operator, pendingId } from '../../harness/gate.ts'
import { noProgress, origin } from '../../harness/ledger.ts'
import { addTestProvider } from '../../harness/sign-in-providers.ts'
import { makeProduct } from '../../http/samples.ts'

let api: TestApi
let tenant: TestTenant
beforeAll(async () => {
  api = await openTestApi()
  tenant = await makeTenant(api.ledger)
  await makeMember(api.ledger, tenant.tenantId, 'owner')
})
afterAll(() => api.close())

const path = '/v1/roles'
const execution = () => ({ id: newId('cnf'), origin })
const Role = z.object({ role: z.looseObject({ id: z.string() }) })
const approved = (method: 'POST' | 'PATCH' | 'DELETE', url: string, body?: unknown) =>
  askApproveRepeat(api, tenant, method, url, { body, by: operator })
const errorOf = async (method: 'POST' | 'PATCH' | 'DELETE' | 'PUT', url: string, body?: unknown) => {
  const { status, headers } = await api.ask(method, url, { token: tenant.token, body })
  return [status, headers['error-code']]
}

test('a role is added, changed, listed and deleted', async () => {
  const added = await approved('POST', path, {
    name: 'Clerk',
    scopes: ['licenses:write', 'customers:read', 'customers:write', 'licenses:read'],
  })
  const { role } = Role.parse(added.body)
  expect(role).toMatchObject({
    name: 'Clerk',
    scopes: ['customers:read', 'customers:write', 'licenses:read', 'licenses:write'],
    permissions: ['view_as_customer', 'change_licenses', 'replay_sales'],
  })
  const at = `${path}/${role.id}`
  const changed = await approved('PATCH', at, { scopes: ['usage:read'] })
  expect(changed.body).toMatchObject({
    role: { id: role.id, name: 'Clerk', scopes: ['usage:read'], permissions: [] },
  })
  const listed = await api.ask('GET', path, { token: tenant.token })
  expect(listed.body).toMatchObject({ items: [{ id: role.id }], nextCursor: null })
  const audit = await api.ask('GET', `/v1/audit?kind=role&target=${role.id}`, { token: tenant.token })
  expect(audit.body).toMatchObject({ items: [{ action: 'changed' }, { action: 'created' }] })
  expect(await approved('DELETE', at)).toMatchObject({ status: 200, body: { deleted: true } })
  expect(await errorOf('DELETE', at)).toStrictEqual([404, 'role_not_found'])
})

test('only an owner approves it: whoever made roles could widen their own', async () => {
  const body = { name: 'Wider', scopes: ['danger'] }
  const confirmation = pendingId(await api.ask('POST', path, { token: tenant.token, body }))
  const { roleId } = await makeRole(api.ledger, tenant.tenantId, ['danger', 'integrations:write'])
  for (const role of ['admin', 'approver', roleId] as const) {
    const { memberId } = await makeMember(api.ledger, tenant.tenantId, role)
    const by = { requestId: 'req_1', actor: `member:${memberId}` }
    await expect(approve(api.ledger.ports, tenant.tenantId, confirmation, by)).rejects.toMatchObject({
      code: 'approval_by_owner',
    })
  }
})

test('bad names and scopes are refused before anyone is asked', async () => {
  const { name } = await makeRole(api.ledger, tenant.tenantId, ['licenses:read'], 'Taken')
  for (const taken of [name, 'TAKEN', 'owner', 'Reseller'])
    expect(await errorOf('POST', path, { name: taken, scopes: ['usage:read'] })).toStrictEqual([
      409,
      'role_exists',
    ])
  for (const body of [
    { name: 'a: b', scopes: ['usage:read'] },
    { name: '', scopes: ['usage:read'] },
    { name: 'None', scopes: [] },
    { name: 'Directory', scopes: ['scim'] },
    { name: 'Unknown', scopes: ['tokens:write'] },
  ])
    expect((await api.ask('POST', path, { token: tenant.token, body })).status).toBe(400)
})

test('a token allows what its member could do with their role as it is now, also after a rebuild', async () => {
  const { ports } = api.ledger
  const { tenantId } = tenant
  await makeProduct(api.ask, tenant.token, 'editor')
  const role = await makeRole(api.ledger, tenantId, ['products:read', 'licenses:runtime'])
  const { memberId } = await makeMember(api.ledger, tenantId, role.roleId)
  const { token } = await createToken(
    ports,
    {
      tenantId,
      name: 'Build',
      scopes: ['products:read', 'licenses:read', 'licenses:runtime'],
      expiresAt: null,
    },
    { requestId: 'req_person', actor: `member:${memberId}` },
  )
  const key = { product_id: 'editor', license_key: 'NONE' }
  const statuses = async () => [
    (await api.ask('GET', '/v1/products', { token })).status,
    (await api.ask('GET', '/v1/licenses', { token })).status,
    (await api.ask('POST', '/v1/licenses/validate', { token, body: key })).status,
  ]
  expect(await statuses()).toStrictEqual([200, 403, 200])
  await changeCustomRole(ports, tenantId, role.roleId, { scopes: ['licenses:read'] }, execution())
  expect(await statuses()).toStrictEqual([403, 200, 403])
  await rebuild(api.ledger.db, api.ledger.ports.ledger, noProgress)
  expect(await statuses()).toStrictEqual([403, 200, 403])
})

test('a role in use is not deleted, whoever has or gives it', async () => {
  const { ports } = api.ledger
  const { tenantId } = tenant
  const { roleId } = await makeRole(api.ledger, tenantId, ['licenses:read'])
  const { memberId } = await makeMember(api.ledger, tenantId, roleId)
  const at = `${path}/${roleId}`
  expect(await errorOf('DELETE', at)).toStrictEqual([409, 'role_in_use'])
  await changeRole(ports, tenantId, memberId, 'auditor', origin)
  await addTestProvider(api.ledger, tenantId, 'login')
  await changeProvider(
    ports,
    tenantId,
    'login',
    { roles: [{ value: 'staff', role: roleId }] },
    newId('cnf'),
    origin,
  )
  expect(await errorOf('DELETE', at)).toStrictEqual([409, 'role_in_use'])
  await changeProvider(ports, tenantId, 'login', { roles: [] }, newId('cnf'), origin)
  const scim = { roles: [{ group: 'Staff', role: roleId }], defaultRole: null }
  await askApproveRepeat(api, tenant, 'PUT', '/v1/scim', { body: scim, by: operator })
  expect(await errorOf('DELETE', at)).toStrictEqual([409, 'role_in_use'])
  await askApproveRepeat(api, tenant, 'PUT', '/v1/scim', { body: { ...scim, roles: [] }, by: operator })
  expect(await approved('DELETE', at)).toMatchObject({ status: 200 })
  expect(await errorOf('PUT', '/v1/scim', scim)).toStrictEqual([404, 'role_not_found'])
})

test('a deletion is judged by what a process recorded before it died, which the read models do not show yet', async () => {
  const { ports } = api.ledger
  const { tenantId } = tenant
  const { roleId } = await makeRole(api.ledger, tenantId, ['licenses:read'])
  const { memberId } = await makeMember(api.ledger, tenantId, 'auditor')
  const dying: typeof ports = {
    ...ports,
    execute: (decider, id, command, cause, options) =>
      ports.execute(decider, id, command, cause, { ...options, waits: false }),
  }
  await changeRole(dying, tenantId, memberId, roleId, origin)
  await expect(removeCustomRole(ports, tenantId, roleId, execution())).rejects.toMatchObject({
    code: 'role_in_use',
  })
})
