/**
 * Guarantee: a note about a customer says who wrote it and when, is added once for a repeated request, stays sealed, and is gone
 * with the customer's person: from the read models, the stored answers and, without the key, the log.
 */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { requireCustomer } from '../../../src/commands/customers/customers.ts'
import { eraseSubject } from '../../../src/commands/customers/erasure.ts'
import { makeTenant, openTestApi, type TestApi, type TestTenant } from '../../harness/api.ts'
import { origin } from '../../harness/ledger.ts'
import { makeCustomer } from '../../http/samples.ts'

let api: TestApi
let tenant: TestTenant
beforeAll(async () => {
  api = await openTestApi()
  tenant = await makeTenant(api.ledger)
})
afterAll(() => api.close())

type Note = { id: string; text: string | null; actor: { kind: string; name: string }; createdAt: string }
const path = (customerId: string) => `/v1/customers/${customerId}/notes`
const add = async (customerId: string, text: string, headers: Record<string, string> = {}) => {
  const { status, body } = await api.ask('POST', path(customerId), {
    token: tenant.token,
    body: { text },
    headers,
  })
  return { status, note: (body as { note: Note }).note }
}
const list = async (customerId: string, query = '') => {
  const { body } = await api.ask('GET', `${path(customerId)}${query}`, { token: tenant.token })
  return body as { items: Note[]; nextCursor: string | null }
}

test('notes are listed newest first, with author and time, and removed', async () => {
  const customerId = await makeCustomer(api.ask, tenant.token)
  const first = await add(customerId, '  Pays by invoice.\n\nCalls on Mondays. ')
  expect(first.status).toBe(201)
  expect(first.note).toStrictEqual({
    id: expect.stringMatching(/^nte_/) as string,
    text: 'Pays by invoice.\n\nCalls on Mondays.',
    actor: {
      kind: 'token',
      id: expect.stringMatching(/^tok_/) as string,
      name: expect.any(String) as string,
    },
    createdAt: api.ledger.clock.now().toISOString(),
  })
  api.ledger.clock.advance(60_000)
  const second = await add(customerId, 'Moved to the annual plan.')
  const page = await list(customerId, '?limit=1')
  expect(page.items).toStrictEqual([second.note])
  expect((await list(customerId, `?limit=1&cursor=${page.nextCursor}`)).items).toStrictEqual([first.note])
  const own = `${path(customerId)}/${first.note.id}`
  for (let sent = 0; sent < 2; sent++)
    expect(await api.ask('DELETE', own, { token: tenant.token })).toMatchObject({
      status: 200,
      body: { removed: true },
    })
  expect((await list(customerId)).items).toStrictEqual([second.note])
})

test('a note of another customer is not removed through this one', async () => {
  const [one, other] = [await makeCustomer(api.ask, tenant.token), await makeCustomer(api.ask, tenant.token)]
  const { note } = await add(other, 'Theirs.')
  await api.ask('DELETE', `${path(one)}/${note.id}`, { token: tenant.token })
  expect((await list(other)).items).toStrictEqual([note])
})

test.each([
  ['', 400],
  [' \n ', 400],
  ['a'.repeat(2001), 400],
  ['a\u0000b', 400],
  ['a\u202eb', 400],
  ['a'.repeat(2000), 201],
])('a note of %j is answered %i', async (text, status) => {
  const customerId = await makeCustomer(api.ask, tenant.token)
  expect((await add(customerId, text)).status).toBe(status)
})

test('a repeated request adds one note', async () => {
  const customerId = await makeCustomer(api.ask, tenant.token)
  const once = { 'idempotency-key': 'note-once' }
  const { note } = await add(customerId, 'Once.', once)
  expect((await add(customerId, 'Once.', once)).note).toStrictEqual(note)
  expect((await list(customerId)).items).toStrictEqual([note])
})

test('erasing the person takes their notes everywhere, and no further note is taken', async () => {
  const text = 'Has moved to 12 Ockham Road.'
  const customerId = await makeCustomer(api.ask, tenant.token, { email: 'erased@example.com' })
  const once = { 'idempotency-key': 'note-erased' }
  await add(customerId, text, once)
  const { ports, db } = api.ledger
  const { customer } = await requireCustomer(ports, tenant.tenantId, customerId)
  const sealed = await db.query('select text from customer_notes where customer_id = $1', [customerId])
  expect(JSON.stringify(sealed.rows)).not.toContain('Ockham')
  expect(sealed.rows).toHaveLength(1)
  await eraseSubject(ports, tenant.tenantId, customer.subjectId, origin)
  expect((await list(customerId)).items).toStrictEqual([])
  const left = await db.query('select text from customer_notes where customer_id = $1', [customerId])
  expect(left.rows).toStrictEqual([{ text: null }])
  // The stored answer is gone too, and the request is run again.
  expect((await add(customerId, text, once)).note.text).toBeNull()
  expect((await add(customerId, 'Another one.')).status).toBe(409)
})

test('a note under the key of an earlier address is null once that person is erased', async () => {
  const customerId = await makeCustomer(api.ask, tenant.token, { email: 'earlier@example.com' })
  await add(customerId, 'About the earlier address.')
  const { ports } = api.ledger
  const { customer } = await requireCustomer(ports, tenant.tenantId, customerId)
  await api.ask('PATCH', `/v1/customers/${customerId}`, {
    token: tenant.token,
    body: { email: 'later@example.com' },
  })
  await eraseSubject(ports, tenant.tenantId, customer.subjectId, origin)
  expect((await list(customerId)).items).toMatchObject([{ text: null }])
})
