/**
 * Guarantee: the page of licenses is narrowed by each filter that the API has, ignores what is no filter, and never
 * has an email address in its URL.
 */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { makeTenant, openTestApi, type TestApi, type TestTenant } from '../harness/api.ts'
import { beginning, commandLicense } from '../harness/ledger.ts'
import { importRows, makeCustomer, makeProduct, mint } from '../http/samples.ts'
import { type Client, clientOf } from './client.ts'
import { fieldsOf } from './forms.ts'
import { makeMember } from './members.ts'
import { wordsOf } from './words.ts'

let api: TestApi
let tenant: TestTenant
let client: Client
const names = new Map<string, string>()
let customer: string
let secondDay: string

const notice = (id: string) =>
  commandLicense(api.ledger, id, {
    type: 'NoticeSharing',
    rule: 'published_key',
    count: 1,
    limit: null,
    day: '2026-03-01',
    suspend: false,
    at: beginning,
  })

beforeAll(async () => {
  api = await openTestApi()
  tenant = await makeTenant(api.ledger)
  const { token } = tenant
  await makeProduct(api.ask, token, 'editor', {
    keyTypes: [{ name: 'Forever' }, { name: 'Day', duration: { count: 1, unit: 'day' } }],
  })
  customer = await makeCustomer(api.ask, token, { email: 'company@example.com' })
  const minted = async (name: string, fields: object) => {
    const { id } = await mint(api.ask, token, 'editor', { keyTypeId: 'forever', ...fields })
    names.set(id, name)
  }
  await minted('ada', { email: 'ada@example.com', metadata: { plan: 'pro=1' } })
  await notice([...names.keys()][0] ?? '')
  await minted('linked', { customerId: customer })
  api.ledger.clock.advance(24 * 3_600_000)
  secondDay = api.ledger.clock.now().toISOString().slice(0, 10)
  await minted('day', { keyTypeId: 'day', email: 'grace@example.com' })
  const { results } = await importRows(api.ask, token, 'editor', [{ licenseKey: 'OLD-0000-0001' }])
  names.set(results[0]?.id ?? '', 'imported')
  client = clientOf(api.app)
  const owner = await makeMember(api.ledger, tenant.tenantId, 'owner')
  expect((await client.signIn(owner)).status).toBe(303)
})
afterAll(() => api.close())

async function shownAt(path: string): Promise<string[]> {
  const { status, text } = await client.get(path)
  expect(status).toBe(200)
  return [...names].filter(([id]) => text.includes(`/licenses/${id}"`)).map(([, name]) => name)
}

test.each([
  ['', ['ada', 'linked', 'day', 'imported']],
  ['product=editor&status=active', ['ada', 'linked', 'day', 'imported']],
  ['status=revoked', []],
  ['source=import', ['imported']],
  ['shared=true', ['ada']],
  ['shared=false&test=false&source=api', ['linked', 'day']],
  ['test=true', []],
  ['test=false&source=api', ['ada', 'linked', 'day']],
  ['metadata=plan=pro=1', ['ada']],
  ['metadata=plan=free', []],
  [
    'source=nonsense&test=&metadata=plan&customer=nonsense&createdFrom=soon',
    ['ada', 'linked', 'day', 'imported'],
  ],
])('%s', async (query, expected) => {
  expect(await shownAt(`/dashboard/licenses?${query}`)).toStrictEqual(expected)
})

test('days are in UTC, the first one included and the last one not', async () => {
  const early = ['ada', 'linked']
  const late = ['day', 'imported']
  expect(await shownAt(`/dashboard/licenses?createdFrom=${secondDay}`)).toStrictEqual(late)
  expect(await shownAt(`/dashboard/licenses?createdBefore=${secondDay}`)).toStrictEqual(early)
  expect(await shownAt(`/dashboard/licenses?expiresBefore=2999-01-01`)).toStrictEqual(['day'])
  expect(await shownAt(`/dashboard/licenses?customer=${customer}`)).toStrictEqual(['linked'])
})

test('a person is found by email address, which the URL does not contain', async () => {
  const { status, location = '' } = await client.post('/dashboard/licenses/find', {
    email: ' Ada@example.com ',
  })
  expect(status).toBe(303)
  expect(location).not.toContain('@')
  expect(await shownAt(location)).toStrictEqual(['ada'])
  const unknown = await client.post('/dashboard/licenses/find', { email: 'someone@example.com' })
  expect(await shownAt(unknown.location ?? '')).toStrictEqual([])
})

test('a customer is found by a part of their name or address, which the URL does not contain', async () => {
  const { token } = tenant
  const other = await makeCustomer(api.ask, token, {
    email: 'mary@lovelace.example',
    name: 'Mary Lovelace',
  })
  await makeCustomer(api.ask, token, { email: 'martha@lovelace.example' })
  const find = (text: string) => client.post('/dashboard/licenses/customer', { text })
  expect((await find('mary love')).location).toBe(`/dashboard/licenses?customer=${other}`)
  expect((await find(customer)).location).toBe(`/dashboard/licenses?customer=${customer}`)
  const several = await find('Lovelace')
  expect(several.status).toBe(200)
  expect(several.text).toContain(`/dashboard/licenses?customer=${other}`)
  expect(wordsOf(several.text)).toContain('Several customers match. Choose one.')
  expect(wordsOf((await find('nobody at all')).text)).toContain('No customer matches.')
  expect(wordsOf((await client.get(`/dashboard/licenses?customer=${other}`)).text)).toContain(
    'Showing one customer',
  )
})

test('what was chosen stays chosen, and the rarer filters are open when one of them is used', async () => {
  const closed = await client.get('/dashboard/licenses?status=revoked')
  expect(closed.text).not.toMatch(/<details[^>]* open/)
  expect(wordsOf(closed.text)).toContain('No licenses match these filters')
  const open = await client.get('/dashboard/licenses?source=api&createdFrom=2026-01-02&status=active')
  expect(open.text).toMatch(/<details[^>]* open/)
  expect(fieldsOf(open)).toMatchObject({ source: 'api', createdFrom: '2026-01-02', status: 'active' })
})
