/**
 * Guarantee: only a token with the scope `scim` alone manages users, of its own tenant. Every refusal has the form of RFC 7644 and
 * says what to do, and no request is answered 5xx.
 */
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { closeTenant, suspendTenant } from '../../../src/commands/tenants.ts'
import { combinableScopes } from '../../../src/domain/tokens/events.ts'
import { makeTenant, openTestApi, type TestApi, type TestTenant } from '../../harness/api.ts'
import { origin } from '../../harness/ledger.ts'
import { type Directory, openDirectory } from './directory.ts'

let api: TestApi
let tenant: TestTenant
let directory: Directory
let other: Directory
beforeAll(async () => {
  api = await openTestApi()
  tenant = await makeTenant(api.ledger)
  directory = await openDirectory(api, tenant)
  other = await openDirectory(api, await makeTenant(api.ledger))
})
afterAll(() => api.close())

const schemas = ['urn:ietf:params:scim:api:messages:2.0:Error']
const sentence = expect.any(String) as string

describe('tokens', () => {
  test('no token, a wrong one, and one without the scope are refused in the form of SCIM', async () => {
    const ask = (token?: string) => api.ask('GET', '/scim/v2/Users', { token })
    for (const token of [undefined, 'kl_pat_wrong']) {
      const refused = await ask(token)
      expect(refused.status).toBe(401)
      expect(refused.body).toStrictEqual({ schemas, status: '401', detail: sentence })
      expect(refused.headers['content-type']).toBe('application/scim+json; charset=utf-8')
      expect(refused.headers['www-authenticate']).toBe('Bearer')
    }
    const refused = await ask(tenant.token)
    expect(refused.status).toBe(403)
    expect(refused.body).toStrictEqual({
      schemas,
      status: '403',
      detail: 'the token lacks the scope scim; create one that has it',
    })
  })

  test('the scope stands alone', async () => {
    for (const scope of combinableScopes)
      await expect(tenant.tokenWith('scim', scope)).rejects.toMatchObject({ code: 'scim_scope_alone' })
    const { token } = directory
    for (const path of [
      '/v1/products',
      '/v1/licenses',
      '/v1/scim',
      '/v1/tokens',
      '/v1/audit',
      '/v1/customers',
    ])
      expect((await api.ask('GET', path, { token })).status, path).toBe(403)
    expect(await api.ask('GET', '/v1/tokens/verify', { token })).toMatchObject({
      status: 200,
      body: { scopes: ['scim'] },
    })
  })

  test('a suspended tenant still loses members, and a closed one is refused', async () => {
    const suspended = await makeTenant(api.ledger)
    const own = await openDirectory(api, suspended)
    const id = await own.user('ada@acme.example')
    await suspendTenant(api.ledger.ports, suspended.tenantId, 'unpaid', origin)
    expect((await own.ask('DELETE', `/Users/${id}`)).status).toBe(204)
    await closeTenant(api.ledger.ports, suspended.tenantId, 'gone', origin)
    expect(await own.ask('GET', '/Users')).toMatchObject({ status: 403, body: { schemas, status: '403' } })
  })
})

test("another tenant's users and groups are as absent ones", async () => {
  const user = await directory.user('mine@acme.example')
  const group = await directory.group('Mine', [user])
  const ofOther = await other.group('Theirs')
  const answers = async (userId: string, groupId: string) => [
    await other.ask('GET', `/Users/${userId}`),
    await other.ask('PUT', `/Users/${userId}`, { userName: 'mine@acme.example' }),
    await other.patch(`/Users/${userId}`, { op: 'replace', path: 'active', value: false }),
    await other.ask('DELETE', `/Users/${userId}`),
    await other.ask('GET', `/Groups/${groupId}`),
    await other.ask('PUT', `/Groups/${groupId}`, { displayName: 'Other' }),
    await other.patch(`/Groups/${groupId}`, { op: 'replace', path: 'displayName', value: 'Other' }),
    await other.ask('DELETE', `/Groups/${groupId}`),
    await other.patch(`/Groups/${ofOther}`, { op: 'add', path: 'members', value: [{ value: userId }] }),
  ]
  const seen = (all: Awaited<ReturnType<typeof answers>>) => all.map(({ status, body }) => ({ status, body }))
  const foreign = seen(await answers(user, group))
  const absent = await answers('mem_00000000000000000000000000', 'grp_00000000000000000000000000')
  expect(foreign).toStrictEqual(seen(absent))
  expect(foreign.map(({ status }) => status)).toStrictEqual([404, 404, 404, 404, 404, 404, 404, 404, 400])
  const found = await other.ask(
    'GET',
    `/Users?filter=${encodeURIComponent('userName eq "mine@acme.example"')}`,
  )
  expect(found.body).toMatchObject({ totalResults: 0 })
  expect(await directory.ask('GET', `/Users/${user}`)).toMatchObject({ status: 200, body: { active: true } })
})

const replace = (path: string, value?: unknown) => ({ op: 'replace', path, value })

test.each([
  ['an attribute that does not exist', [replace('colour', 'red')], 'invalidPath'],
  ['a path that is none', [replace('members[', [])], 'invalidPath'],
  ['a condition that cannot be read', [replace('emails[type eq].value', 'a@b.example')], 'invalidFilter'],
  ['an operation that does not exist', [{ op: 'move', path: 'active', value: true }], 'invalidValue'],
  ['text for active', [replace('active', 'maybe')], 'invalidValue'],
  ['a user name that is removed', [{ op: 'remove', path: 'userName' }], 'mutability'],
  ['an id that changes', [replace('id', 'mem_1')], 'mutability'],
  ['groups of a user', [replace('groups', [])], 'mutability'],
  ['a removal without a path', [{ op: 'remove' }], 'noTarget'],
  ['an address that is none', [replace('emails[type eq "work"].value', 'nobody')], 'invalidValue'],
  ['no operations', [], 'invalidSyntax'],
])('a PATCH of a user with %s is refused, and nothing of it is done', async (_, operations, scimType) => {
  const id = await directory.user(`${crypto.randomUUID()}@acme.example`)
  const change = [replace('displayName', 'Changed'), ...operations]
  const refused = await directory.patch(`/Users/${id}`, ...(operations.length === 0 ? [] : change))
  expect(refused.status).toBe(400)
  expect(refused.body).toStrictEqual({ schemas, status: '400', scimType, detail: sentence })
  expect((await directory.ask('GET', `/Users/${id}`)).body).not.toHaveProperty('displayName')
})

test.each([
  ['userName co "a"', 'invalidFilter'],
  ['not (userName eq "a")', 'invalidFilter'],
  ['userName eq "a" or userName eq "b"', 'invalidFilter'],
  ['colour eq "red"', 'invalidFilter'],
  ['userName eq', 'invalidFilter'],
  [`${'('.repeat(5000)}`, 'invalidFilter'],
])('the filter %s is refused', async (filter, scimType) => {
  const refused = await directory.ask('GET', `/Users?filter=${encodeURIComponent(filter)}`)
  expect(refused).toMatchObject({ status: 400, body: { schemas, status: '400', scimType, detail: sentence } })
})

test.each([
  ['POST', '/Users', {}, 'invalidValue'],
  ['POST', '/Users', { userName: 'no-address' }, 'invalidValue'],
  ['POST', '/Users', { userName: 'a@b.example', active: 'yes' }, 'invalidValue'],
  ['POST', '/Users', [], 'invalidSyntax'],
  ['POST', '/Groups', { displayName: '' }, 'invalidValue'],
  ['POST', '/Groups', { displayName: 'Nested', members: [{ value: 'grp_1' }] }, 'invalidValue'],
  ['GET', '/Users?startIndex=one', undefined, 'invalidValue'],
  ['GET', '/Users?sortBy=userName', undefined, 'invalidSyntax'],
] as const)('%s %s with %j is refused', async (method, path, body, scimType) => {
  expect(await directory.ask(method, path, body)).toMatchObject({
    status: 400,
    body: { schemas, status: '400', scimType, detail: sentence },
  })
})

test('what does not exist, and methods and bodies that are not taken, are refused in the form of SCIM', async () => {
  for (const [method, path, status] of [
    ['GET', '/Nothing', 404],
    ['POST', '/Bulk', 404],
    ['PUT', '/Users', 405],
  ] as const) {
    const refused = await directory.ask(method, path, method === 'GET' ? undefined : {})
    expect(refused, path).toMatchObject({
      status,
      body: { schemas, status: String(status), detail: sentence },
    })
  }
  const { token } = directory
  const sent = (raw: string, type: string) =>
    api.ask('POST', '/scim/v2/Users', { token, raw, headers: { 'content-type': type } })
  expect(await sent('{"userName":', 'application/scim+json')).toMatchObject({
    status: 400,
    body: { scimType: 'invalidSyntax' },
  })
  expect(await sent('userName=a', 'text/plain')).toMatchObject({ status: 400, body: { schemas } })
  expect((await sent('{"userName":"json@acme.example"}', 'application/json')).status).toBe(201)
})

/** Something that looks like a request, and something that does not. */
const anything = fc.oneof(
  fc.jsonValue({ maxDepth: 3 }),
  fc.record(
    {
      userName: fc.oneof(fc.string({ unit: 'binary' }), fc.emailAddress(), fc.jsonValue()),
      emails: fc.jsonValue(),
      active: fc.oneof(fc.boolean(), fc.constantFrom('True', 'false', 'no'), fc.jsonValue()),
      name: fc.jsonValue(),
      displayName: fc.oneof(fc.string({ unit: 'binary' }), fc.jsonValue()),
      members: fc.jsonValue(),
    },
    { requiredKeys: [] },
  ),
  fc.record({
    Operations: fc.array(
      fc.record(
        {
          op: fc.constantFrom('add', 'Replace', 'REMOVE', 'none'),
          path: fc.oneof(
            fc.string(),
            fc.constantFrom(
              'active',
              'members',
              'emails[type eq "work"].value',
              'members[value eq "a"]',
              'name',
            ),
          ),
          value: fc.jsonValue({ maxDepth: 2 }),
        },
        { requiredKeys: ['op'] },
      ),
      { maxLength: 3 },
    ),
  }),
)

test('no body and no filter is answered 5xx', async () => {
  const id = await directory.user('fuzzed@acme.example')
  const group = await directory.group('Fuzzed', [id])
  const well = (status: number) => status < 500
  await fc.assert(
    fc.asyncProperty(
      anything,
      fc.oneof(
        fc.string({ unit: 'binary' }),
        fc.stringMatching(/^(?:userName|emails\[type) (?:eq|pr|co)[ "a\]()]*$/),
      ),
      fc.constantFrom('/Users', '/Groups'),
      async (body, filter, path) => {
        const own = `${path}/${path === '/Users' ? id : group}`
        const query = `?filter=${encodeURIComponent(filter.toWellFormed())}`
        for (const answer of [
          await directory.ask('POST', path, body),
          await directory.ask('PUT', own, body),
          await directory.ask('PATCH', own, body),
          await directory.ask('GET', `${path}${query}`),
        ]) {
          expect(answer.status, answer.text).toSatisfy(well)
        }
      },
    ),
    { numRuns: 60 },
  )
})
