/**
 * Guarantee: a member who may requests an export on the list of licenses, and downloads it once after its approval, with
 * no license that was added since; nobody else downloads it.
 */
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { z } from 'zod'
import { makeTenant, openTestApi, type TestApi, type TestTenant } from '../harness/api.ts'
import { parseCsv } from '../http/parse-csv.ts'
import { makeProduct, mint } from '../http/samples.ts'
import { type Client, clientOf, type Seen } from './client.ts'
import { fieldsOf } from './forms.ts'
import { makeMember, type TestMember } from './members.ts'
import { wordsOf } from './words.ts'

let api: TestApi
let tenant: TestTenant
let owner: TestMember
let client: Client
let addresses = 0
beforeAll(async () => {
  api = await openTestApi()
})
afterAll(() => api.close())
beforeEach(async () => {
  tenant = await makeTenant(api.ledger)
  owner = await makeMember(api.ledger, tenant.tenantId, 'owner')
  client = await signedIn(owner)
  await makeProduct(api.ask, tenant.token, 'editor', { name: 'Acme Editor' })
  await makeProduct(api.ask, tenant.token, 'player')
  await mint(api.ask, tenant.token, 'editor', { email: 'ada@example.com' })
  await mint(api.ask, tenant.token, 'player', { email: 'grace@example.com' })
})

async function signedIn(member: TestMember): Promise<Client> {
  const own = clientOf(api.app, `192.0.2.${++addresses}`)
  expect((await own.signIn(member)).status).toBe(303)
  return own
}

/** Requests an export with the form as the list opens it. @returns the path of its approval */
async function requested(query = '', by = client): Promise<string> {
  const form = await by.get(`/dashboard/export-licenses${query}`)
  const { status, location = '' } = await by.post('/dashboard/export-licenses', fieldsOf(form))
  expect({ status, location }).toStrictEqual({
    status: 303,
    location: expect.stringMatching(/^\/dashboard\/approvals\/cnf_\w+$/) as string,
  })
  return location
}

async function approved(path: string, by = client): Promise<Seen> {
  const { seen = '' } = fieldsOf(await by.get(path))
  expect((await by.post(`${path}/approve`, { seen })).status).toBe(303)
  return by.get(path)
}

const emailsIn = ({ text }: Seen): string[] => {
  const [head = [], ...rows] = parseCsv(text)
  return rows.map((row) => row[head.indexOf('email')] ?? '').sort()
}

test('the list leads to the form with its filter, and the approved file is downloaded once', async () => {
  const list = await client.get('/dashboard/licenses?product=editor&status=active')
  expect(list.text).toContain('href="/dashboard/export-licenses?product=editor&amp;status=active"')
  const path = await requested('?product=editor&status=active')
  const page = await client.get(path)
  expect(wordsOf(page.text)).toContain('Export the active licenses of “Acme Editor” as CSV')
  expect(wordsOf(page.text)).toContain('1 license is exported')
  expect(page.text).not.toContain(`${path}/download`)
  expect((await client.post(`${path}/download`)).status).toBe(409)

  const after = await approved(path)
  expect(wordsOf(after.text)).toContain('The member who requested it can download the file once')
  expect(after.text).toContain(`${path}/download`)
  await mint(api.ask, tenant.token, 'editor', { email: 'late@example.com' })
  const file = await client.post(`${path}/download`)
  expect(file).toMatchObject({
    status: 200,
    headers: {
      'content-type': 'text/csv; charset=utf-8; header=present',
      'content-disposition': 'attachment; filename="licenses-2026-03-01.csv"',
      'cache-control': 'no-store',
    },
  })
  expect(emailsIn(file)).toStrictEqual(['ada@example.com'])

  const again = await client.post(`${path}/download`)
  expect(again.status).toBe(409)
  expect(again.text).not.toContain('ada@example.com')
  const used = await client.get(path)
  expect(used.text).toContain('>executed<')
  expect(used.text).not.toContain(`${path}/download`)
})

test('of several downloads at once one gets the file', async () => {
  const path = await requested()
  await approved(path)
  const all = await Promise.all(Array.from({ length: 4 }, () => client.post(`${path}/download`)))
  expect(all.map(({ status }) => status).sort()).toStrictEqual([200, 409, 409, 409])
  expect(all.filter(({ status }) => status === 200).map(emailsIn)).toStrictEqual([
    ['ada@example.com', 'grace@example.com'],
  ])
})

test('only the requester downloads it, also when another member approved it', async () => {
  const path = await requested()
  const admin = await signedIn(await makeMember(api.ledger, tenant.tenantId, 'admin'))
  const shown = await approved(path, admin)
  expect(wordsOf(shown.text)).toContain('The member who requested the file can download it here, once.')
  expect(shown.text).not.toContain(`${path}/download`)
  expect((await admin.post(`${path}/download`)).status).toBe(403)
  const other = await makeTenant(api.ledger)
  const stranger = await signedIn(await makeMember(api.ledger, other.tenantId, 'owner'))
  await stranger.get('/dashboard/account')
  expect((await stranger.post(`${path}/download`)).status).toBe(404)
  await client.get(path)
  expect((await client.post(`${path}/download`)).status).toBe(200)
})

test('an approval that is withdrawn or has expired gives no file', async () => {
  const withdrawn = await requested()
  await approved(withdrawn)
  await client.post(`${withdrawn}/withdraw`)
  expect((await client.post(`${withdrawn}/download`)).status).toBe(409)
  const path = await requested()
  await approved(path)
  api.ledger.clock.advance(3_600_000)
  const late = await client.post(`${path}/download`)
  api.ledger.clock.advance(-3_600_000)
  expect(late.status).toBe(409)
  expect(late.text).toContain('>expired<')
})

test('requests of other kinds, and of API clients, are not downloaded', async () => {
  const asked = await api.ask('GET', '/v1/licenses/export', { token: tenant.token })
  const rotation = await api.ask('POST', '/v1/sdk-key/rotate', { token: tenant.token })
  const Pending = z.object({ confirmation: z.object({ id: z.string() }) })
  const [ofClient, ofOther] = [asked, rotation].map(
    ({ body }) => `/dashboard/approvals/${Pending.parse(body).confirmation.id}`,
  )
  const shown = await approved(ofClient ?? '')
  expect(wordsOf(shown.text)).toContain('when the API client repeats the request')
  expect(shown.text).not.toContain('/download')
  expect((await client.post(`${ofClient}/download`)).status).toBe(403)
  expect((await client.post(`${ofOther}/download`)).status).toBe(404)
})

test('the form keeps what was chosen, and says what is wrong beside its field', async () => {
  await client.get('/dashboard/export-licenses')
  const refused = await client.post('/dashboard/export-licenses', {
    format: 'ndjson',
    product: 'absent',
    status: 'revoked',
  })
  expect(refused.status).toBe(422)
  expect(refused.text).toContain('<p class="error" id="product-error">Choose a product.</p>')
  expect(fieldsOf(refused)).toMatchObject({ format: 'ndjson', status: 'revoked' })
  const odd = await client.post('/dashboard/export-licenses', { format: 'xml', product: '', status: '' })
  expect(odd.status).toBe(422)
  expect(wordsOf((await client.get('/dashboard/approvals')).text)).toContain('No pending requests')
})

test('is recorded in the audit log as requested, approved and run by the member, and offered by role', async () => {
  const path = await requested()
  await approved(path)
  await client.post(`${path}/download`)
  const { rows } = await api.ledger.db.query<{ action: string }>(
    `select action from audit where tenant_id = $1 and actor = $2 and operation = 'license.export' order by position`,
    [tenant.tenantId, `member:${owner.memberId}`],
  )
  expect(rows.map(({ action }) => action)).toStrictEqual(['asked', 'approved', 'executed'])
  const support = await signedIn(await makeMember(api.ledger, tenant.tenantId, 'support'))
  expect((await support.get('/dashboard/licenses')).text).not.toContain('export-licenses')
})
