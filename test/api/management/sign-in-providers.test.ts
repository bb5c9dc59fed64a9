/**
 * Guarantee: sign-in providers are changed only with an approval, and the client secret is in no answer, event or read model. The
 * issuer has a public address.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { findSignInProvider } from '../../../projections/sign-in-providers.ts'
import { clientOf } from '../../../src/commands/sign-in-providers.ts'
import { approve, showApproval } from '../../../src/gate/approvals.ts'
import { makeMember } from '../../dashboard/members.ts'
import { makeTenant, openTestApi, type TestApi, type TestTenant } from '../../harness/api.ts'
import { askApproveRepeat, confirmed, operator, pendingId } from '../../harness/gate.ts'
import { makeCustomer } from '../../http/samples.ts'

let api: TestApi
let tenant: TestTenant
beforeAll(async () => {
  api = await openTestApi()
  tenant = await makeTenant(api.ledger)
})
afterAll(() => api.close())

const path = '/v1/sign-in-providers'
const secret = 'the-client-secret-of-this-test'
const body = {
  id: 'entra',
  issuer: 'https://public.example.com/tenant/v2.0',
  clientId: 'keyledger',
  clientSecret: secret,
  name: 'Acme Entra',
  domains: ['acme.example'],
}
const provider = {
  id: 'entra',
  issuer: body.issuer,
  audience: 'members',
  customerId: null,
  name: 'Acme Entra',
  clientId: 'keyledger',
  roleClaim: null,
  roles: [],
  defaultRole: null,
  domains: ['acme.example'],
  createdAt: expect.any(String) as string,
  updatedAt: expect.any(String) as string,
}

const kept = async () => {
  const found = await findSignInProvider(api.ledger.db, tenant.tenantId, 'entra')
  return found && (await clientOf(api.ledger.ports, tenant.tenantId, found)).clientSecret
}

test('a provider is added, changed and deleted, and its secret is shown nowhere', async () => {
  const of = {
    ...provider,
    redirectUri: `http://localhost:8080/dashboard/sign-in/${tenant.tenantId}/entra/callback`,
    backChannelLogoutUri: `http://localhost:8080/login/${tenant.tenantId}/entra/logout`,
  }
  const added = await askApproveRepeat(api, tenant, 'POST', path, { body, by: operator })
  expect(added).toMatchObject({ status: 200, body: { provider: of } })
  expect(await kept()).toBe(secret)
  const change = {
    roleClaim: 'groups',
    roles: [{ value: 'admins', role: 'admin' }],
    clientSecret: `${secret}-2`,
  }
  const changed = await askApproveRepeat(api, tenant, 'PATCH', `${path}/entra`, {
    body: change,
    by: operator,
  })
  const { clientSecret: _, ...shown } = change
  expect(changed).toMatchObject({ status: 200, body: { provider: { ...of, ...shown } } })
  expect(await kept()).toBe(`${secret}-2`)
  const { rows } = await api.ledger.db.query('select name from vault.secrets where name like $1', [
    'sign-in-provider.%',
  ])
  expect(rows).toHaveLength(1)
  const read = await api.ask('GET', `${path}/entra`, { token: tenant.token })
  const listed = await api.ask('GET', path, { token: tenant.token })
  const audited = await api.ask('GET', '/v1/audit', { token: tenant.token })
  for (const { text } of [added, changed, read, listed, audited]) expect(text).not.toContain(secret)
  const { rows: models } = await api.ledger.db.query(
    'select to_jsonb(p)::text as row from sign_in_providers p',
  )
  expect(JSON.stringify(models)).not.toContain(secret)
  const { entries } = await api.ledger.ports.ledger.readPage(undefined, 1000)
  const events = JSON.stringify(entries, (_name, value: unknown) =>
    typeof value === 'bigint' ? String(value) : value,
  )
  expect(events).toContain('SignInProviderSecretReplaced')
  expect(events).not.toContain(secret)
  expect(await askApproveRepeat(api, tenant, 'DELETE', `${path}/entra`, { by: operator })).toMatchObject({
    status: 200,
  })
  expect(await kept()).toBeUndefined()
  expect(await api.ask('GET', `${path}/entra`, { token: tenant.token })).toMatchObject({ status: 404 })
})

describe('a provider for customers', () => {
  const forCustomers = { ...body, id: 'okta', audience: 'customers' }

  test('has a redirect URI below the portal, and keeps whom it is for', async () => {
    const added = await askApproveRepeat(api, tenant, 'POST', path, { body: forCustomers, by: operator })
    const shown = {
      ...provider,
      id: 'okta',
      audience: 'customers',
      redirectUri: `http://localhost:8080/portal/${tenant.tenantId}/sign-in/okta/callback`,
      backChannelLogoutUri: `http://localhost:8080/login/${tenant.tenantId}/okta/logout`,
    }
    expect(added).toMatchObject({ status: 200, body: { provider: shown } })
    const change = { body: { audience: 'members' }, token: tenant.token }
    expect(await api.ask('PATCH', `${path}/okta`, change)).toMatchObject({ status: 400 })
    const roles = { body: { defaultRole: 'owner' }, token: tenant.token }
    expect(await api.ask('PATCH', `${path}/okta`, roles)).toMatchObject({
      status: 422,
      headers: { 'error-code': 'sign_in_roles_of_others' },
    })
    await askApproveRepeat(api, tenant, 'DELETE', `${path}/okta`, { by: operator })
  })

  test('of an organization names one of the workspace, and gives its roles', async () => {
    const add = (customerId: string, more: object = {}) =>
      api.ask('POST', path, { token: tenant.token, body: { ...forCustomers, customerId, ...more } })
    const other = await makeTenant(api.ledger)
    const customerId = await makeCustomer(api.ask, tenant.token)
    const foreign = await makeCustomer(api.ask, other.token)
    await api.ask('POST', `/v1/customers/${foreign}/organization`, { token: other.token })
    const absent = await add('cus_00000000000000000000000000')
    expect(absent).toMatchObject({ status: 404, headers: { 'error-code': 'customer_not_found' } })
    expect((await add(foreign)).body).toMatchObject({
      error: (absent.body as { error: unknown }).error,
    })
    expect((await add(customerId)).headers['error-code']).toBe('not_an_organization')
    await api.ask('POST', `/v1/customers/${customerId}/organization`, { token: tenant.token })
    expect((await add(customerId, { defaultRole: 'owner' })).headers['error-code']).toBe(
      'sign_in_roles_of_others',
    )
    const roles = [{ value: 'it', role: 'administrator' }]
    const more = { customerId, roleClaim: 'groups', roles, defaultRole: 'member' }
    const sent = { body: { ...forCustomers, ...more }, by: operator }
    expect(await askApproveRepeat(api, tenant, 'POST', path, sent)).toMatchObject({
      status: 200,
      body: { provider: { audience: 'customers', ...more } },
    })
    await askApproveRepeat(api, tenant, 'DELETE', `${path}/okta`, { by: operator })
  })
})

test('only an owner approves it: whoever adds a provider could sign in as one', async () => {
  const sent = { token: tenant.token, body: { ...body, id: 'other' } }
  const confirmation = pendingId(await api.ask('POST', path, sent))
  const { ports } = api.ledger
  const by = async (role: 'admin' | 'approver' | 'owner') => {
    const { memberId } = await makeMember(api.ledger, tenant.tenantId, role)
    return approve(ports, tenant.tenantId, confirmation, {
      requestId: 'req_1',
      actor: `member:${memberId}`,
    })
  }
  await expect(by('admin')).rejects.toMatchObject({ code: 'approval_by_owner' })
  await expect(by('approver')).rejects.toMatchObject({ code: 'approval_by_owner' })
  const { approvers } = await showApproval(ports, tenant.tenantId, confirmation)
  expect(approvers?.members).toStrictEqual([])
  await by('owner')
  expect(await confirmed(api.ask, tenant, 'POST', path, confirmation, sent)).toMatchObject({ status: 200 })
  expect(await askApproveRepeat(api, tenant, 'DELETE', `${path}/other`, { by: operator })).toMatchObject({
    status: 200,
  })
})

test('an approval is needed even to try, and a token without danger gets none', async () => {
  const token = await tenant.tokenWith('integrations:write')
  expect(await api.ask('POST', path, { token, body })).toMatchObject({ status: 403 })
  expect(await api.ask('POST', path, { token: tenant.token, body })).toMatchObject({ status: 202 })
  expect(await api.ask('GET', path, { token: tenant.token })).toMatchObject({ body: { items: [] } })
})

test.each([
  'http://public.example.com',
  'https://127.0.0.1',
  'https://localhost',
  'https://169.254.169.254/latest',
  'https://ada:secret@public.example.com',
  'https://public.example.com/?a=b',
  'https://public.example.com/#a',
  'javascript:alert(1)',
  'public.example.com',
])('the issuer %s is refused', async (issuer) => {
  const seen = await api.ask('POST', path, { token: tenant.token, body: { ...body, issuer } })
  expect(seen.status).toBe(422)
  expect(seen.headers['error-code']).toBe('sign_in_issuer_not_allowed')
})

test.each([
  { domains: [] },
  { domains: ['Acme.example'] },
  { domains: ['localhost'] },
  { roles: [{ value: 'a', role: 'king' }] },
  { id: 'Entra!' },
  { audience: 'everybody' },
  { customerId: 'cus_00000000000000000000000000' },
])('%j is invalid', async (wrong) => {
  const seen = await api.ask('POST', path, { token: tenant.token, body: { ...body, ...wrong } })
  expect(seen.status).toBe(400)
})
