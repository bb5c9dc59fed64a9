import {
  addRole,
  addSignInProvider,
  changeRole,
  changeSignInProvider,
  deleteRole,
  deleteSignInProvider,
  getRole,
  getScim,
  getSignInProvider,
  listAudit,
  listRoles,
  listSignInProviders,
  listTokens,
  readInsights,
  revokeToken,
  setScim,
} from '../client/index.ts'
import { approved, expect, rehearsed } from '../program.ts'

const { OTHER_TOKEN_ID: id = '', NOW: now = '' } = process.env

const tokens = await listTokens({ query: { order: 'oldest' } })
expect('tokens are listed', tokens.data, ({ items }) => items.some((token) => token.id === id))
await rehearsed((query) => revokeToken({ path: { id }, query }))
const revoked = await approved((headers) => revokeToken({ path: { id }, headers }))
expect('another token is revoked', revoked, ({ token }) => token.revokedAt !== null)

const query = { from: '2020-01-01T00:00:00.000Z', to: '2100-01-01T00:00:00.000Z', order: 'oldest' } as const
const all = await listAudit({ query })
const entry = expect('administration is audited', all.data, ({ items }) => items.length > 0).items.find(
  ({ target }) => target.id !== null,
)
const { actor = '', action = '', target } = entry ?? {}
const same = await listAudit({
  query: { ...query, actor, action, kind: target?.kind ?? '', target: target?.id ?? '' },
})
expect('an entry is found by everything that it says', same.data, ({ items }) => items.length > 0)
const overApi = await listAudit({ query: { via: 'api' } })
expect('what was done over the API is found', overApi.data, ({ items }) => items.length > 0)

const insights = await readInsights({
  query: { from: new Date(Date.parse(now) - 86_400_000).toISOString(), to: now },
})
expect('figures are read', insights.data, ({ from }) => from < now)

const login = {
  id: 'login',
  issuer: 'https://public.example.com',
  clientId: 'keyledger',
  clientSecret: 'a secret',
  name: 'Login',
  domains: ['acme.example'],
}
await rehearsed((query) => addSignInProvider({ query, body: login }))
const added = await approved((headers) => addSignInProvider({ headers, body: login }))
expect('a sign-in provider is added', added, ({ provider }) =>
  provider.redirectUri.endsWith('/login/callback'),
)
const at = { id: 'login' }
const change = { name: 'Acme Login' }
await rehearsed((query) => changeSignInProvider({ path: at, query, body: change }))
await approved((headers) => changeSignInProvider({ path: at, headers, body: change }))
const read = await getSignInProvider({ path: at })
expect('it is changed', read.data, ({ provider }) => provider.name === 'Acme Login')
const providers = await listSignInProviders()
expect('it is listed', providers.data, ({ items }) => items.length === 1)
const forCustomers = { ...login, id: 'customers', audience: 'customers' as const }
const offered = await approved((headers) => addSignInProvider({ headers, body: forCustomers }))
expect('a sign-in provider for customers is added', offered, ({ provider }) =>
  provider.redirectUri.endsWith('/sign-in/customers/callback'),
)
await approved((headers) => deleteSignInProvider({ path: { id: 'customers' }, headers }))
await rehearsed((query) => deleteSignInProvider({ path: at, query }))
await approved((headers) => deleteSignInProvider({ path: at, headers }))

const directory = {
  roles: [{ group: 'Licensing admins', role: 'admin' as const }],
  defaultRole: 'auditor' as const,
}
await rehearsed((query) => setScim({ query, body: directory }))
await approved((headers) => setScim({ headers, body: directory }))
const { data: scim } = await getScim()
expect(
  'the roles of a directory are set',
  scim,
  ({ scim: { baseUrl, roles } }) => baseUrl.endsWith('/scim/v2') && roles.length === 1,
)

const clerk = { name: 'License clerk', scopes: ['licenses:read' as const] }
await rehearsed((query) => addRole({ query, body: clerk }))
const { role } = expect(
  'a role is added',
  await approved((headers) => addRole({ headers, body: clerk })),
  (answer) => answer.role.permissions.length === 0,
)
const ofRole = { id: role.id }
const wider = { scopes: ['licenses:read' as const, 'customers:read' as const] }
await rehearsed((query) => changeRole({ path: ofRole, query, body: wider }))
await approved((headers) => changeRole({ path: ofRole, headers, body: wider }))
const changedRole = await getRole({ path: ofRole })
expect('it has the new scopes', changedRole.data, (answer) =>
  answer.role.permissions.includes('view_as_customer'),
)
const roles = await listRoles()
expect('it is among the roles', roles.data, ({ items }) => items.some(({ id: one }) => one === role.id))
await rehearsed((query) => deleteRole({ path: ofRole, query }))
await approved((headers) => deleteRole({ path: ofRole, headers }))
