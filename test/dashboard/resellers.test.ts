/**
 * Guarantee: a vendor creates a reseller with quotas, members and tokens, and closes them; the people of a reseller mint within their
 * quotas, and see their own customers and licenses. Everything else is to them as if it were not there.
 */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { makeTenant, openTestApi, type TestApi, type TestTenant } from '../harness/api.ts'
import { makeCustomer, makeProduct, mint } from '../http/samples.ts'
import { type Client, clientOf, type Seen } from './client.ts'
import { fieldsOf, wordsOf } from './forms.ts'
import { makeMember, makeReseller } from './members.ts'

let api: TestApi
let tenant: TestTenant
let owner: Client
let seller: Client
let rival: Client

const quotas = [{ productId: 'editor', keyTypeId: 'team', licenses: 2 }]
const own = '/dashboard/reseller'
const list = '/dashboard/resellers'

beforeAll(async () => {
  api = await openTestApi()
  tenant = await makeTenant(api.ledger)
  const keyTypes = [{ name: 'Single' }, { name: 'Team' }]
  await makeProduct(api.ask, tenant.token, 'editor', { name: 'Editor', keyTypes })
  owner = clientOf(api.app, '192.0.2.1')
  await owner.signIn(await makeMember(api.ledger, tenant.tenantId, 'owner'))
  seller = await personOfNew('192.0.2.2')
  rival = await personOfNew('192.0.2.3')
})
afterAll(() => api.close())

async function personOfNew(address: string): Promise<Client> {
  const { resellerId } = await makeReseller(api.ledger, tenant.tenantId, quotas)
  const client = clientOf(api.app, address)
  await client.signIn(await makeMember(api.ledger, tenant.tenantId, { role: 'reseller', resellerId }))
  return client
}

const secretOf = ({ text }: Seen): string => /id="secret"[^>]*value="([^"]+)"/.exec(text)?.[1] ?? ''
const idIn = ({ text }: Seen, prefix: string): string => new RegExp(`${prefix}_\\w{26}`).exec(text)?.[0] ?? ''

async function mintAs(client: Client, email: string): Promise<Seen> {
  const form = await client.get(`${own}/new-license`)
  return client.post(`${own}/new-license`, { ...fieldsOf(form), email, name: 'A customer' })
}

test('the people of a reseller begin on their own pages, and see no others', async () => {
  expect(await seller.get('/dashboard')).toMatchObject({ status: 303, location: own })
  const overview = await seller.get(own)
  expect(wordsOf(overview)).toContain('Editor: Team 2 0 2')
  const links = [...overview.text.matchAll(/href="(\/dashboard[^"]*)"/g)].map(([, href = '']) => href)
  for (const href of links) expect([200, 303]).toContain((await seller.get(href)).status)
  expect(overview.text).not.toContain('/dashboard/search')
})

test('a form that is sent twice mints one license, which the reseller and the vendor see', async () => {
  const form = fieldsOf(await seller.get(`${own}/new-license`))
  expect(form.sold).toBe('editor/team')
  const fields = { ...form, email: 'ada@example.com', name: 'Ada' }
  const first = await seller.post(`${own}/new-license`, fields)
  expect(secretOf(await seller.post(`${own}/new-license`, fields))).toBe(secretOf(first))
  expect(secretOf(first)).not.toBe('')
  const license = await seller.get(`${own}/licenses/${idIn(first, 'lic')}`)
  expect(wordsOf(license)).toContain('ada@example.com')
  expect(license.text).not.toContain(secretOf(first))
  expect(wordsOf(await seller.get(`${own}/customers/${idIn(license, 'cus')}`))).toContain('Ada')
  expect(wordsOf(await seller.get(own))).toContain('Editor: Team 2 1 1')
  expect((await owner.get('/dashboard/licenses')).text).toContain(idIn(first, 'lic'))
})

test('a quota ends with a sentence beside the field', async () => {
  expect(await mintAs(rival, 'one@example.com')).toMatchObject({ status: 200 })
  expect(await mintAs(rival, 'two@example.com')).toMatchObject({ status: 200 })
  const third = await mintAs(rival, 'three@example.com')
  expect(third.status).toBe(422)
  expect(wordsOf(third)).toContain('The quota of this key type is used up.')
  const fields = fieldsOf(await rival.get(`${own}/new-license`))
  const other = await rival.post(`${own}/new-license`, {
    ...fields,
    sold: 'editor/single',
    email: 'x@example.com',
  })
  expect(other.status).toBe(422)
})

test('what the vendor, another reseller and another tenant have is not found, like what is absent', async () => {
  const stranger = await makeTenant(api.ledger)
  await makeProduct(api.ask, stranger.token, 'editor')
  const rivals = { license: idIn(await rival.get(`${own}/licenses`), 'lic') }
  const customer = idIn(await rival.get(`${own}/customers`), 'cus')
  const things: { license: string; customer: string }[] = [
    { ...rivals, customer },
    {
      license: (await mint(api.ask, tenant.token, 'editor', { email: 'v@example.com' })).id,
      customer: await makeCustomer(api.ask, tenant.token),
    },
    {
      license: (await mint(api.ask, stranger.token, 'editor')).id,
      customer: await makeCustomer(api.ask, stranger.token),
    },
  ]
  const seen = async (license: string, customerId: string) => {
    const pages = [
      await seller.get(`${own}/licenses/${license}`),
      await seller.get(`${own}/customers/${customerId}`),
    ]
    return pages.map(({ status, text }) => ({ status, text: text.replaceAll(/value="[^"]*"/g, '') }))
  }
  const none = '0'.repeat(26)
  const absent = await seen(`lic_${none}`, `cus_${none}`)
  expect(absent.map(({ status }) => status)).toStrictEqual([404, 404])
  for (const thing of things) expect(await seen(thing.license, thing.customer)).toStrictEqual(absent)
})

test('a vendor creates a reseller with a member and a token, and closes them', async () => {
  const fresh = fieldsOf(await owner.get('/dashboard/new-reseller'))
  const wrong = await owner.post('/dashboard/new-reseller', {
    ...fresh,
    name: 'Sunrise',
    quotas: 'editor 5',
  })
  expect(wordsOf(wrong)).toContain('Write each line as product/key-type: licenses')
  const unknown = { ...fresh, name: 'Sunrise', quotas: 'editor/absent: 5' }
  expect(wordsOf(await owner.post('/dashboard/new-reseller', unknown))).toContain('no such key type')
  const made = await owner.post('/dashboard/new-reseller', {
    ...fresh,
    name: 'Sunrise',
    quotas: 'editor/team: 5',
  })
  const path = made.location ?? ''
  expect(path).toMatch(/^\/dashboard\/resellers\/rsl_/)
  const edit = fieldsOf(await owner.get(`${path}/edit`))
  expect(edit.quotas).toBe('editor/team: 5')
  await owner.post(`${path}/edit`, { ...edit, quotas: 'editor/team: 7\n\neditor/single: 1' })
  expect(wordsOf(await owner.get(path))).toContain('Editor: Team 7 0 7 Editor: Single 1 0 1')

  const member = await owner.post(`${path}/members`, { email: 'sam@sunrise.example' })
  expect(secretOf(member)).toContain('/dashboard/welcome/')
  await owner.get(`${path}/members/new`)
  expect((await owner.post(`${path}/members`, { email: 'sam@sunrise.example' })).status).toBe(422)
  const form = fieldsOf(await owner.get(`${path}/tokens/new`))
  const token = secretOf(await owner.post(`${path}/tokens`, { ...form, name: 'Shop' }))
  const asking = () => api.ask('GET', '/v1/licenses', { token })
  expect(await asking()).toMatchObject({ status: 200, body: { items: [] } })
  expect(wordsOf(await owner.get(path))).toMatch(/sam@sunrise\.example.*Shop/)

  const welcome = new URL(secretOf(member)).pathname
  expect((await clientOf(api.app).get(welcome)).status).toBe(200)
  expect(wordsOf(await owner.get(`${path}/close`))).toContain('reach nothing any more')
  expect(await owner.post(`${path}/close`)).toMatchObject({ status: 303 })
  expect(await asking()).toMatchObject({ status: 401 })
  expect((await clientOf(api.app).get(welcome)).status).not.toBe(200)
  expect(wordsOf(await owner.get(list))).toContain('Sunrise closed')
  expect((await owner.get(`${path}/tokens/new`)).status).toBe(409)
})

test('the people of a closed reseller are signed out with their next request', async () => {
  const { resellerId } = await makeReseller(api.ledger, tenant.tenantId, quotas)
  const member = await makeMember(api.ledger, tenant.tenantId, { role: 'reseller', resellerId })
  const client = clientOf(api.app, '192.0.2.9')
  await client.signIn(member)
  expect((await client.get(own)).status).toBe(200)
  await owner.get(`${list}/${resellerId}/close`)
  await owner.signIn(await makeMember(api.ledger, tenant.tenantId, 'owner'))
  await owner.get(`${list}/${resellerId}/close`)
  await owner.post(`${list}/${resellerId}/close`)
  expect(await client.get(own)).toMatchObject({
    status: 303,
    location: expect.stringContaining('/sign-in') as string,
  })
  await client.signIn(member)
  expect((await client.get(own)).status).toBe(303)
})
