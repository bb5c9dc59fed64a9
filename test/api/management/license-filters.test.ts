/**
 * Guarantee: a list of licenses can be filtered by each field alone and by all of them together, and contains
 * exactly the licenses that match.
 */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import { revokeLicense } from '../../../src/commands/licenses/licenses.ts'
import { makeTenant, openTestApi, type TestApi, type TestTenant } from '../../harness/api.ts'
import { origin } from '../../harness/ledger.ts'
import { importRows, makeCustomer, makeProduct, mint } from '../../http/samples.ts'

const Page = z.object({
  items: z.array(z.looseObject({ id: z.string() })),
  nextCursor: z.string().nullable(),
})

let api: TestApi
let tenant: TestTenant
let customer: string
const ids: Record<string, string> = {}
const times: string[] = []

const now = () => api.ledger.clock.now().toISOString()

beforeAll(async () => {
  api = await openTestApi()
  tenant = await makeTenant(api.ledger)
  const { token } = tenant
  await makeProduct(api.ask, token, 'editor', {
    keyTypes: [{ name: 'Forever' }, { name: 'Day', duration: { count: 1, unit: 'day' } }],
  })
  customer = await makeCustomer(api.ask, token, { email: 'company@example.com' })
  const minted = async (name: string, fields: object) => {
    times.push(now())
    const { id } = await mint(api.ask, token, 'editor', { keyTypeId: 'forever', ...fields })
    ids[name] = id
    api.ledger.clock.advance(60_000)
  }
  await minted('ada', { email: 'ada@example.com', metadata: { order: '1', plan: 'pro' } })
  await minted('bob', { email: 'bob@example.com', metadata: { order: '2', plan: 'pro' } })
  await minted('linked', { customerId: customer })
  await minted('day', { keyTypeId: 'day', email: 'ada@example.com' })
  await minted('gone', { metadata: { plan: 'pro' } })
  await revokeLicense(api.ledger.ports, tenant.tenantId, ids.gone ?? '', null, origin)
  const { results } = await importRows(api.ask, token, 'editor', [{ licenseKey: 'OLD-0000-0001' }])
  ids.imported = results[0]?.id ?? ''
})
afterAll(() => api.close())

async function namesOf(query: string): Promise<string[]> {
  const seen: string[] = []
  let cursor: string | null = ''
  while (cursor !== null) {
    const url = `/v1/licenses?limit=2&${query}${cursor === '' ? '' : `&cursor=${cursor}`}`
    const { status, body } = await api.ask('GET', url, { token: tenant.token })
    expect({ query, status }).toStrictEqual({ query, status: 200 })
    const page: z.infer<typeof Page> = Page.parse(body)
    seen.push(...page.items.map(({ id }) => Object.keys(ids).find((name) => ids[name] === id) ?? id))
    cursor = page.nextCursor
  }
  return seen
}

test.each([
  ['email=ada%40example.com', ['day', 'ada']],
  ['email=ADA%40EXAMPLE.COM', ['day', 'ada']],
  ['email=nobody%40example.com', []],
  ['source=api', ['gone', 'day', 'linked', 'bob', 'ada']],
  ['source=import', ['imported']],
  ['source=sale', []],
  ['test=true', []],
  ['test=false', ['imported', 'gone', 'day', 'linked', 'bob', 'ada']],
  ['metadata[plan]=pro', ['gone', 'bob', 'ada']],
  ['metadata[plan]=pro&order=oldest', ['ada', 'bob', 'gone']],
  ['metadata%5Bplan%5D=pro&metadata%5Border%5D=2', ['bob']],
  ['metadata[plan]=pro&status=revoked', ['gone']],
  ['metadata[plan]=pro&status=active', ['bob', 'ada']],
  ['metadata[plan]=basic', []],
  ['status=revoked', ['gone']],
  ['email=ada%40example.com&metadata[order]=1&source=api&status=active&product=editor', ['ada']],
])('the filter %s lists %j', async (query, names) => {
  expect(await namesOf(query)).toStrictEqual(names)
})

test('the filter by customer lists the licenses linked to that customer', async () => {
  expect(await namesOf(`customer=${customer}`)).toStrictEqual(['linked'])
  expect(await namesOf('customer=cus_00000000000000000000000000')).toStrictEqual([])
})

test('a range of creation times includes its start and excludes its end', async () => {
  expect(await namesOf(`created_after=${times[1]}&created_before=${times[3]}`)).toStrictEqual([
    'linked',
    'bob',
  ])
  const inOffset = encodeURIComponent((times[1] ?? '').replace('Z', '+00:00'))
  expect(await namesOf(`created_before=${inOffset}`)).toStrictEqual(['ada'])
})

test('the filters by expiry and status follow the clock without an expiry event', async () => {
  const tomorrow = new Date(Date.parse(now()) + 2 * 86_400_000).toISOString()
  expect(await namesOf(`expires_before=${tomorrow}`)).toStrictEqual(['day'])
  expect(await namesOf(`expires_before=${now()}`)).toStrictEqual([])
  expect(await namesOf('status=expired')).toStrictEqual([])
  api.ledger.clock.advance(86_400_000)
  expect(await namesOf(`expires_before=${now()}`)).toStrictEqual(['day'])
  expect(await namesOf('status=expired')).toStrictEqual(['day'])
  expect(await namesOf('status=active')).toStrictEqual(['imported', 'linked', 'bob', 'ada'])
})

test('licenses of another tenant match no filter', async () => {
  const other = await makeTenant(api.ledger)
  for (const query of [
    'email=ada%40example.com',
    `customer=${customer}`,
    'metadata[plan]=pro',
    'status=revoked',
    'status=expired',
  ]) {
    const { body } = await api.ask('GET', `/v1/licenses?${query}`, { token: other.token })
    expect({ query, body }).toStrictEqual({ query, body: { items: [], nextCursor: null } })
  }
})

test.each([
  'email=ada',
  'created_after=yesterday',
  'source=shop',
  'test=1',
  'metadata=pro',
  'metadata[]=pro',
  'metadata[plan]=a&metadata[plan]=b',
  'metadata[plan]=%00',
  'metadatum[plan]=a',
])('the filter %s returns 400', async (query) => {
  const { status } = await api.ask('GET', `/v1/licenses?${query}`, { token: tenant.token })
  expect(status).toBe(400)
})

test('a cursor is rejected with other filters', async () => {
  const first = await api.ask('GET', '/v1/licenses?limit=1&metadata[plan]=pro', { token: tenant.token })
  const { nextCursor } = Page.parse(first.body)
  for (const query of ['', 'metadata[plan]=basic', 'metadata[plan]=pro&source=api']) {
    const url = `/v1/licenses?${query}&cursor=${nextCursor}`
    expect((await api.ask('GET', url, { token: tenant.token })).status).toBe(400)
  }
})
