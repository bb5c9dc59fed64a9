/**
 * Guarantee: the page of a license shows how its meters stand, what was used over time and each line; members who may change licenses add and
 * withdraw credits and correct uses there, once for a form that is sent twice. The page of a customer does the same for the meters that their
 * licenses share. Products and customers show the sums.
 */
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { makeTenant, openTestApi, type TestApi, type TestTenant } from '../harness/api.ts'
import { beginning } from '../harness/ledger.ts'
import { makeCustomer, makeProduct, mint } from '../http/samples.ts'
import { type Client, clientOf } from './client.ts'
import { fieldsOf, wordsOf } from './forms.ts'
import { makeMember } from './members.ts'

let api: TestApi
let tenant: TestTenant
let admin: Client
let runtime: string
const meters = [
  { meter: 'calls', unit: 'calls', included: '10000', period: 'month', overage: 'allow' },
  { meter: 'minutes', unit: 'render minutes', included: '0', period: 'license', overage: 'block' },
]
beforeAll(async () => {
  api = await openTestApi()
  tenant = await makeTenant(api.ledger)
  runtime = await tenant.tokenWith('licenses:runtime')
  admin = clientOf(api.app)
  await admin.signIn(await makeMember(api.ledger, tenant.tenantId, 'admin'))
  await makeProduct(api.ask, tenant.token, 'api', { keyTypes: [{ name: 'Pro', meters }, { name: 'None' }] })
})
afterAll(() => api.close())
beforeEach(() => api.ledger.clock.set(beginning))

let keys = 0
const use = async (
  path: 'consume' | 'hold',
  license_key: string,
  meter: string,
  amount: string,
  more: object = {},
) => {
  const body = { product_id: 'api', license_key, meter, amount, idempotency_key: `key-${++keys}`, ...more }
  const answer = await api.ask('POST', `/v1/licenses/${path}`, { token: runtime, body })
  expect(answer.body).toMatchObject({ allowed: true })
  await api.ledger.readModels.catchUp()
}
const standing = async (id: string) =>
  (await api.ask('GET', `/v1/licenses/${id}/meters`, { token: tenant.token })).body as { meters: object[] }
const barsIn = (text: string) => text.match(/<g class="column">/g)?.length ?? 0

test('the page of a license says what is used, left, held and beyond, and when it is used up', async () => {
  const { id, licenseKey } = await mint(api.ask, tenant.token, 'api')
  await use('consume', licenseKey, 'calls', '4000')
  api.ledger.clock.set('2026-03-05T00:00:00.000Z')
  await use('consume', licenseKey, 'calls', '200.5')
  await use('hold', licenseKey, 'calls', '100', { seconds: 600 })
  const owner = clientOf(api.app)
  await owner.signIn(await makeMember(api.ledger, tenant.tenantId, 'owner'))
  const page = await owner.get(`/dashboard/licenses/${id}`)
  const words = wordsOf(page)
  expect(words).toContain('4,200.5 of 10,000 calls used , 100 held')
  expect(words).toContain('Left 5,699.5 calls Included 10,000 each month')
  expect(words).toContain('Resets 1 Apr 2026, 00:00 UTC')
  expect(words).toContain(
    'At this rate used up on 9 Mar 2026 About 1,200 calls a day, the mean of the last 7 days',
  )
  expect(words).toContain('100 calls until 5 Mar 2026, 00:10 UTC')
  expect(page.text).toContain('aria-label="42 % used"')
  expect(page.text).toContain('<title>1 Mar 2026: 4,000 calls, 0 beyond</title>')
  expect(barsIn(page.text)).toBe(30)
  expect(barsIn((await owner.get(`/dashboard/licenses/${id}?used=all`)).text)).toBe(400)
  expect(barsIn((await owner.get(`/dashboard/licenses/${id}?used=day`)).text)).toBe(24)

  await use('consume', licenseKey, 'calls', '6000')
  expect(wordsOf(await owner.get(`/dashboard/licenses/${id}`))).toContain(
    '10,200.5 of 10,000 calls used , 300.5 of them beyond, 100 held',
  )
})

test('a license without meters has no such part, and neither has a past state', async () => {
  const { id } = await mint(api.ask, tenant.token, 'api', { keyTypeId: 'none' })
  expect((await admin.get(`/dashboard/licenses/${id}`)).text).not.toContain('id="metered-use"')
  const metered = await mint(api.ask, tenant.token, 'api')
  expect((await admin.get(`/dashboard/licenses/${metered.id}?asOf=0`)).text).not.toContain('id="metered-use"')
})

test('credits are added and withdrawn, and uses corrected, once for a form that is sent twice', async () => {
  const { id, licenseKey } = await mint(api.ask, tenant.token, 'api')
  const page = `/dashboard/licenses/${id}`
  const change = async (name: string, query: string, typed: Record<string, string>) => {
    const form = fieldsOf(await admin.get(`${page}/change/${name}?${query}`))
    for (let sent = 0; sent < 2; sent++) {
      const answer = await admin.post(`${page}/change/${name}`, { ...form, ...typed })
      expect(answer).toMatchObject({ status: 303, location: page })
    }
  }
  await change('add-credit', 'meter=minutes', { amount: '500', endsOn: '2026-12-31', order: '1001' })
  await use('consume', licenseKey, 'minutes', '120.25')
  await change('correct-use', 'meter=minutes', { amount: '20.25', reason: 'rendered twice' })
  expect((await standing(id)).meters[1]).toMatchObject({ used: '100', remaining: '400' })
  const shown = await admin.get(page)
  expect(wordsOf(shown)).toContain('100 of 500 render minutes used')
  const [, credit = ''] = /withdraw-credit\?meter=minutes&amp;credit=(crd_\w+)/.exec(shown.text) ?? []
  await change('withdraw-credit', `meter=minutes&credit=${credit}`, { reason: 'refunded' })
  expect((await standing(id)).meters[1]).toMatchObject({ used: '100', remaining: '0', credits: [] })

  const lines = wordsOf(await admin.get(`${page}/meters/minutes`))
  expect(lines).toMatch(
    /Credit withdrawn refunded 400 .* Corrected rendered twice −20.25 20.25 of a credit .* Used 120.25 120.25 of a credit .* Credit added 1001 500 until 31 Dec 2026, 23:59 UTC/,
  )
})

test.each([
  ['add-credit', { amount: '0' }, 'Enter a number more than 0'],
  ['add-credit', { amount: '1', endsOn: '2020-01-01' }, 'Enter a day in the future.'],
  ['correct-use', { amount: '1', reason: 'r' }, 'Not so much was used in this period.'],
  ['correct-use', { amount: '1', reason: '' }, 'Enter a reason.'],
  [
    'withdraw-credit',
    { credit: 'crd_none', reason: 'r' },
    'There is no such credit, or nothing of it is left.',
  ],
])('%s with %j is shown again', async (name, typed, words) => {
  const { id } = await mint(api.ask, tenant.token, 'api')
  const path = `/dashboard/licenses/${id}/change/${name}`
  const again = await admin.post(path, {
    ...fieldsOf(await admin.get(`${path}?meter=calls`)),
    ...(typed as unknown as Record<string, string>),
  })
  expect(again.status).toBeGreaterThanOrEqual(400)
  expect(wordsOf(again)).toContain(words)
})

test('a member who may only read sees no changes, and may make none', async () => {
  const { id } = await mint(api.ask, tenant.token, 'api')
  const auditor = clientOf(api.app)
  await auditor.signIn(await makeMember(api.ledger, tenant.tenantId, 'auditor'))
  const { text } = await auditor.get(`/dashboard/licenses/${id}`)
  expect(text).toContain('Lines of calls')
  expect(text).not.toContain('/change/add-credit')
  expect((await auditor.get(`/dashboard/licenses/${id}/change/add-credit?meter=calls`)).status).toBe(403)
})

test('lines are shown in pages, and only of the own tenant', async () => {
  const { id, licenseKey } = await mint(api.ask, tenant.token, 'api')
  for (let each = 1; each <= 51; each++) await use('consume', licenseKey, 'calls', String(each))
  const first = await admin.get(`/dashboard/licenses/${id}/meters/calls`)
  const rows = (text: string) => text.split('<tbody>')[1]?.match(/<tr>/g)?.length
  expect(rows(first.text)).toBe(50)
  const [, next = ''] = /href="([^"]+)" rel="next"/.exec(first.text) ?? []
  expect(rows((await admin.get(next)).text)).toBe(1)
  expect((await admin.get(`/dashboard/licenses/${id}/meters/nothing`)).status).toBe(404)
  const other = clientOf(api.app)
  const stranger = await makeTenant(api.ledger)
  await other.signIn(await makeMember(api.ledger, stranger.tenantId, 'owner'))
  expect((await other.get(`/dashboard/licenses/${id}/meters/calls`)).status).toBe(404)
})

test('what was used in a month is downloaded as CSV, of the own tenant', async () => {
  const { id, licenseKey } = await mint(api.ask, tenant.token, 'api')
  await use('consume', licenseKey, 'calls', '1.5')
  api.ledger.clock.advance(1000)
  expect((await admin.get(`/dashboard/licenses/${id}`)).text).toContain('action="/dashboard/metered-use.csv"')
  const totals = await admin.get(`/dashboard/metered-use.csv?license=${id}&month=2026-03&of=totals`)
  expect(totals.text).toContain(
    `,${id},api,calls,calls,2026-03-01T00:00:00.000Z,2026-04-01T00:00:00.000Z,1,1.5,0,1.5,0,0\r\n`,
  )
  const lines = await admin.get(`/dashboard/metered-use.csv?license=${id}&month=2026-03&of=lines`)
  expect(lines.text).toContain(',use,1.5,1.5,')
  const before = await admin.get(`/dashboard/metered-use.csv?license=${id}&month=2026-02&of=lines`)
  expect(before.text.trim().split('\r\n')).toHaveLength(1)
  for (const [query, status] of [
    [`license=${id}&month=2026-13&of=lines`, 400],
    [`license=${id}&month=2026-03`, 400],
    ['license=lic_none&month=2026-03&of=lines', 404],
    ['product=nothing&month=2026-03&of=lines', 404],
    ['customer=cus_none&month=2026-03&of=lines', 404],
  ] as const)
    expect((await admin.get(`/dashboard/metered-use.csv?${query}`)).status).toBe(status)
})

test('products and customers show the sums, and which licenses use most', async () => {
  await makeProduct(api.ask, tenant.token, 'sums', { keyTypes: [{ name: 'Pro', meters }] })
  const customerId = await makeCustomer(api.ask, tenant.token)
  const { id, licenseKey } = await mint(api.ask, tenant.token, 'sums', { customerId })
  expect((await admin.get('/dashboard/products/sums')).text).not.toContain('id="metered-use"')
  const body = {
    product_id: 'sums',
    license_key: licenseKey,
    meter: 'calls',
    amount: '10000.5',
    idempotency_key: 'a',
  }
  await api.ask('POST', '/v1/licenses/consume', { token: runtime, body })
  await api.ledger.readModels.catchUp()
  for (const path of ['/dashboard/products/sums', `/dashboard/customers/${customerId}`]) {
    const page = await admin.get(path)
    expect(wordsOf(page)).toContain('10,000.5 calls, 0.5 of them beyond in the last 30 days.')
    expect(wordsOf(page)).toContain(`${id} 10,000.5 0.5`)
  }
})

const rings = { meter: 'rings', unit: 'rings', included: '100', period: 'month', overage: 'allow' }
const sharing = async (count: number) => {
  const customerId = await makeCustomer(api.ask, tenant.token, { meters: [rings] })
  const licenses = []
  for (let made = 0; made < count; made++)
    licenses.push(await mint(api.ask, tenant.token, 'api', { keyTypeId: 'none', customerId }))
  return { page: `/dashboard/customers/${customerId}`, licenses }
}

test('the page of a customer shows what their licenses share, adds and withdraws credits and corrects uses', async () => {
  const { page, licenses } = await sharing(2)
  await use('hold', licenses[0]?.licenseKey ?? '', 'rings', '5', { seconds: 600 })
  for (const { licenseKey } of licenses) await use('consume', licenseKey, 'rings', '70')
  const before = await admin.get(page)
  expect(wordsOf(before)).toContain('140 of 100 rings used , 45 of them beyond, 5 held')
  expect(wordsOf(before)).toContain('140 rings, 45 of them beyond in the last 30 days.')
  expect(before.text.match(/id="metered-use"/g)).toHaveLength(1)

  const change = async (name: string, query: string, typed: Record<string, string>) => {
    const form = fieldsOf(await admin.get(`${page}/change/${name}?${query}`))
    for (let sent = 0; sent < 2; sent++)
      expect(await admin.post(`${page}/change/${name}`, { ...form, ...typed })).toMatchObject({
        status: 303,
        location: page,
      })
  }
  await change('add-credit', 'meter=rings', { amount: '500', order: '1002' })
  await change('correct-use', 'meter=rings', { amount: '20', reason: 'rung twice' })
  const after = await admin.get(page)
  expect(wordsOf(after)).toContain('120 of 600 rings used , 25 of them beyond, 5 held')
  const [, credit = ''] = /withdraw-credit\?meter=rings&amp;credit=(crd_\w+)/.exec(after.text) ?? []
  await change('withdraw-credit', `meter=rings&credit=${credit}`, { reason: 'refunded' })
  expect(wordsOf(await admin.get(page))).not.toContain(credit)

  const lines = wordsOf(await admin.get(`${page}/meters/rings`))
  expect(lines).toMatch(/Credit withdrawn refunded .* Corrected rung twice −20 .* Credit added 1002 500 /)
  for (const { id } of licenses) expect(lines).toContain(id)
})

test('a meter that the licenses of a customer no longer share keeps its lines', async () => {
  const { page, licenses } = await sharing(1)
  await use('consume', licenses[0]?.licenseKey ?? '', 'rings', '7')
  const path = page.replace('/dashboard', '/v1')
  expect((await api.ask('PATCH', path, { token: tenant.token, body: { meters: [] } })).status).toBe(200)
  const { text } = await admin.get(page)
  expect(text).toContain('no longer share this meter')
  expect(text).not.toContain('/change/add-credit')
  expect(wordsOf(await admin.get(`${page}/meters/rings`))).toContain('Used 7 7 included')
  const form = await admin.get(`${page}/change/add-credit?meter=rings`)
  const again = await admin.post(`${page}/change/add-credit`, {
    ...fieldsOf(form),
    meter: 'rings',
    amount: '1',
  })
  expect(again.status).toBeGreaterThanOrEqual(400)
  expect(wordsOf(again)).toContain('There is no such meter any more.')
})

test("another tenant's customer is not found, an auditor changes nothing, and a license's other changes are not a customer's", async () => {
  const { page } = await sharing(0)
  const other = clientOf(api.app)
  const stranger = await makeTenant(api.ledger)
  await other.signIn(await makeMember(api.ledger, stranger.tenantId, 'owner'))
  const absent = '/dashboard/customers/cus_00000000000000000000000000'
  for (const path of ['/meters/rings', '/change/add-credit?meter=rings']) {
    const [theirs, none] = [await other.get(page + path), await other.get(absent + path)]
    expect([theirs.status, none.status]).toStrictEqual([404, 404])
    expect(wordsOf(theirs)).toBe(wordsOf(none))
  }
  const auditor = clientOf(api.app)
  await auditor.signIn(await makeMember(api.ledger, tenant.tenantId, 'auditor'))
  const { text } = await auditor.get(page)
  expect(text).toContain('Lines of rings')
  expect(text).not.toContain('/change/add-credit')
  expect((await auditor.get(`${page}/change/add-credit?meter=rings`)).status).toBe(403)
  expect((await admin.get(`${page}/change/suspend`)).status).toBe(404)
})
