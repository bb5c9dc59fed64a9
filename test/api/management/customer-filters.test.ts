/**
 * Guarantee: a list of customers can be narrowed to an address and to a part of a name, alone and together, and its pages then
 * contain exactly the customers of the tenant that match; an erased person is found by neither.
 */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import { eraseSubject } from '../../../src/commands/customers/erasure.ts'
import { maxCandidates } from '../../../src/vault/people-index.ts'
import { makeTenant, openTestApi, type TestApi, type TestTenant } from '../../harness/api.ts'
import { origin } from '../../harness/ledger.ts'
import { makeCustomer } from '../../http/samples.ts'

const Page = z.object({
  items: z.array(z.looseObject({ id: z.string() })),
  nextCursor: z.string().nullable(),
})

let api: TestApi
let tenant: TestTenant
const ids: Record<string, string> = {}

beforeAll(async () => {
  api = await openTestApi()
  tenant = await makeTenant(api.ledger)
  const stranger = await makeTenant(api.ledger)
  await makeCustomer(api.ask, stranger.token, { email: 'ada@example.com', name: 'Ada Lovelace' })
  const created = async (key: string, email: string, name?: string) => {
    ids[key] = await makeCustomer(api.ask, tenant.token, { email, ...(name !== undefined && { name }) })
    api.ledger.clock.advance(60_000)
  }
  await created('ada', 'ada@example.com', 'Ada Lovelace')
  await created('one', 'zoe@bücher.example', 'Zoé  Love')
  await created('nameless', 'lovelace@example.com')
  await created('ada again', 'ada@example.com', 'A. King')
  await created('bob', 'bob@example.com', 'Bob')
  await created('erased', 'erased@example.com', 'Erased Lovelace')
  const { subjects } = api.ledger.ports
  const erased = await subjects.findSubject(tenant.tenantId, 'erased@example.com')
  await eraseSubject(api.ledger.ports, tenant.tenantId, erased ?? '', origin)
})
afterAll(() => api.close())

const list = (query: string) => api.ask('GET', `/v1/customers?${query}`, { token: tenant.token })

async function found(query: string): Promise<string[]> {
  const seen: string[] = []
  let cursor: string | null = ''
  while (cursor !== null) {
    const { status, body } = await list(`limit=1&${query}${cursor === '' ? '' : `&cursor=${cursor}`}`)
    expect({ query, status }).toStrictEqual({ query, status: 200 })
    const page: z.infer<typeof Page> = Page.parse(body)
    seen.push(...page.items.map(({ id }) => Object.keys(ids).find((key) => ids[key] === id) ?? id))
    cursor = page.nextCursor
  }
  return seen
}

test.each([
  ['email=ada%40example.com', ['ada again', 'ada']],
  ['email=ADA%40EXAMPLE.COM&order=oldest', ['ada', 'ada again']],
  ['email=zoe%40xn--bcher-kva.example', ['one']],
  ['email=ada%40example.co', []],
  ['email=erased%40example.com', []],
  ['name=Love', ['one', 'ada']],
  ['name=LOVE&order=oldest', ['ada', 'one']],
  ['name=zoe+love', ['one']],
  ['name=lovelace', ['ada']],
  ['name=zo%C3%A9', ['one']],
  ['name=erased', []],
  ['name=example', []],
  ['name=king&email=ada%40example.com', ['ada again']],
  ['name=bob&email=ada%40example.com', []],
  ['name=king&email=nobody%40example.com', []],
])('%s finds %j', async (query, keys) => {
  expect(await found(query)).toStrictEqual(keys)
})

test.each(['email=ada', 'email=', 'name=ab', 'name=', 'name=+a+', 'name=%00ab', 'mail=ada%40example.com'])(
  '%s returns 400',
  async (query) => {
    expect((await list(query)).status).toBe(400)
  },
)

test('a cursor is for the same filters only', async () => {
  const { nextCursor } = Page.parse((await list('limit=1&name=love')).body)
  for (const query of ['name=lov', 'name=love&email=ada%40example.com', 'email=ada%40example.com', '']) {
    expect((await list(`limit=1&${query}&cursor=${nextCursor}`)).status).toBe(400)
  }
  expect((await list(`limit=1&name=love&cursor=${nextCursor}`)).status).toBe(200)
})

test('a name that too many people have is refused, and a longer one finds those who have it', async () => {
  const crowded = await makeTenant(api.ledger)
  const people = Array.from({ length: maxCandidates + 1 }, (_, at) => `${at}`)
  await api.ledger.ports.subjects.sealPeople(
    crowded.tenantId,
    people.map((at) => ({ email: `smith${at}@example.com`, name: 'Smith' })),
  )
  const id = await makeCustomer(api.ask, crowded.token, {
    email: 'rare@example.com',
    name: 'Smith Watchmaker',
  })
  const ask = (name: string) => api.ask('GET', `/v1/customers?name=${name}`, { token: crowded.token })
  expect(await ask('smith')).toMatchObject({
    status: 422,
    body: { error: 'more people match this name than can be compared; send more of it' },
  })
  expect((await ask('smith+watch')).body).toMatchObject({ items: [{ id }], nextCursor: null })
})
