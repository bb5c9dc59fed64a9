/**
 * Guarantee: all interfaces validate email addresses by one rule, and both forms of an internationalized domain
 * name the same person.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { clientOf } from '../dashboard/client.ts'
import { makeMember } from '../dashboard/members.ts'
import { makeTenant, openTestApi, type TestApi, type TestTenant } from '../harness/api.ts'
import { uniqueId } from '../harness/ledger.ts'
import { makeProduct } from './samples.ts'

let api: TestApi
let tenant: TestTenant
beforeAll(async () => {
  api = await openTestApi()
  tenant = await makeTenant(api.ledger)
  await makeProduct(api.ask, tenant.token, 'editor')
})
afterAll(() => api.close())

const taken = ['a&b@example.com', 'a!b@example.com', 'ada@localhost', 'ada@bücher.example', 'a@例え.テスト']
const refused = ['ada', 'a b@example.com', 'ada@example..com', 'ä@example.com', 'ada@bücher.example/x']

/** Every interface that accepts an email address, and its response to a valid one. */
const edges: Record<string, { ask(email: string): Promise<number>; taken: number; refused: number }> = {
  'a new license': {
    ask: async (email) => {
      const body = { productId: 'editor', email }
      return (await api.ask('POST', '/v1/licenses', { token: tenant.token, body })).status
    },
    taken: 201,
    refused: 400,
  },
  'a new customer': {
    ask: async (email) =>
      (await api.ask('POST', '/v1/customers', { token: tenant.token, body: { email } })).status,
    taken: 201,
    refused: 400,
  },
  'an imported license': {
    ask: async (email) => {
      const body = { productId: 'editor', licenses: [{ licenseKey: uniqueId('IMPORTED'), email }] }
      const { status, text } = await api.ask('POST', '/v1/licenses/import', { token: tenant.token, body })
      return text.includes('must be an email address') ? 400 : status
    },
    taken: 200,
    refused: 400,
  },
  'the mail settings': {
    ask: async (email) => {
      const body = { from: { name: null, email }, replyTo: email }
      return (await api.ask('PUT', '/v1/products/editor/mail', { token: tenant.token, body })).status
    },
    taken: 200,
    refused: 400,
  },
  'a new member': {
    ask: async (email) => {
      const owner = clientOf(api.app)
      const own = await makeTenant(api.ledger)
      await owner.signIn(await makeMember(api.ledger, own.tenantId, 'owner'))
      await owner.get('/dashboard/members/new')
      return (await owner.post('/dashboard/members', { email, role: 'support' })).status
    },
    taken: 200,
    refused: 422,
  },
}

describe.each(Object.entries(edges))('%s', (_, edge) => {
  test.each(taken)('accepts the email address %s', async (email) =>
    expect(await edge.ask(email)).toBe(edge.taken),
  )
  test.each(refused)('rejects the email address %s', async (email) =>
    expect(await edge.ask(email)).toBe(edge.refused),
  )
})

test('a person is found by both forms of their domain, and stored with the ASCII form', async () => {
  const { token, tenantId } = tenant
  const body = { productId: 'editor', email: 'grace@bücher.example' }
  const minted = await api.ask('POST', '/v1/licenses', { token, body })
  expect(minted.body).toMatchObject({ license: { email: 'grace@xn--bcher-kva.example' } })
  const { subjects } = api.ledger.ports
  const found = await subjects.findSubject(tenantId, 'Grace@xn--bcher-kva.example')
  expect(found).toBeDefined()
  expect(await subjects.findSubject(tenantId, 'grace@BÜCHER.example')).toBe(found)
})

test('a member can sign in with either form of their domain', async () => {
  const member = await makeMember(api.ledger, tenant.tenantId, 'owner', 'ada@bücher.example')
  for (const email of ['ada@xn--bcher-kva.example', 'Ada@Bücher.example']) {
    const signedIn = await clientOf(api.app, '192.0.2.9').signIn({ ...member, email })
    expect(signedIn.status).toBe(303)
  }
})
