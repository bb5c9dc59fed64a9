/** The settings of the portal over `/v1`: a tenant reads and sets its own, and what cannot be used is refused. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { makeTenant, openTestApi, type TestApi, type TestTenant } from '../../harness/api.ts'

let api: TestApi
let tenant: TestTenant
beforeAll(async () => {
  api = await openTestApi()
  tenant = await makeTenant(api.ledger)
})
afterAll(() => api.close())

const call = (method: 'GET' | 'PUT' | 'DELETE', path = '', body?: object) =>
  api.ask(method, `/v1/portal${path}`, { token: tenant.token, ...(body && { body }) })
const closed = { enabled: false, name: null, supportEmail: null, accentColor: null, texts: {}, logo: null }

test('a portal is off until it is turned on, and an omitted field returns to its default', async () => {
  const url = expect.stringContaining(`/portal/${tenant.tenantId}`) as string
  expect((await call('GET')).body).toStrictEqual({ portal: { ...closed, url } })
  const texts = { de: { signOut: 'Bis bald' } }
  const own = { name: 'Acme', supportEmail: 'help@acme.example', accentColor: '#0D5C4F', texts }
  const set = await call('PUT', '', { enabled: true, ...own })
  expect(set.body).toStrictEqual({
    portal: { ...closed, ...own, accentColor: '#0d5c4f', enabled: true, url },
  })
  expect((await call('GET')).body).toStrictEqual(set.body)
  expect((await call('PUT', '', { enabled: true })).body).toStrictEqual({
    portal: { ...closed, enabled: true, url },
  })
})

test.each([
  ['a text that does not exist', 400, { texts: { en: { nothing: 'x' } } }],
  ['a placeholder that is not filled in', 400, { texts: { en: { signOut: '{email}' } } }],
  ['a mail without its link', 400, { texts: { en: { mailText: 'Hello' } } }],
  ['a language that the portal does not have', 400, { texts: { fr: {} } }],
  ['a color by name', 400, { accentColor: 'red' }],
  ['a color that is too light', 422, { accentColor: '#ffff00' }],
  ['an address that is none', 400, { supportEmail: 'help' }],
])('%s is refused', async (_, status, body) =>
  expect((await call('PUT', '', { enabled: true, ...body })).status).toBe(status),
)

test('a logo is a picture by its bytes', async () => {
  const logo = (bytes: string | Buffer) =>
    call('PUT', '/logo', { data: Buffer.from(bytes).toString('base64') })
  const png = Buffer.from('89504e470d0a1a0a', 'hex')
  expect((await logo(png)).body).toMatchObject({ portal: { logo: { type: 'image/png' } } })
  expect((await logo('<svg xmlns="http://www.w3.org/2000/svg"><script/></svg>')).status).toBe(422)
  expect((await logo(Buffer.concat([png, Buffer.alloc(100_000)]))).status).toBe(400)
  expect((await logo(Buffer.concat([png, Buffer.alloc(99_993)]))).status).toBe(422)
  expect((await call('DELETE', '/logo')).body).toMatchObject({ portal: { logo: null } })
})

test('another tenant has its own', async () => {
  await call('PUT', '', { enabled: true, name: 'Acme' })
  const other = await makeTenant(api.ledger)
  const { body } = await api.ask('GET', '/v1/portal', { token: other.token })
  expect(body).toMatchObject({ portal: closed })
})

test('a product says how many seats its customers may free, and whether they may replace the key', async () => {
  const ask = (method: 'POST' | 'PATCH', path: string, body: object) =>
    api.ask(method, path, { token: tenant.token, body })
  await ask('POST', '/v1/products', { name: 'Editor', productId: 'editor' })
  const own = { customerSeatFrees: 0, customerKeyReplacement: true }
  expect((await ask('PATCH', '/v1/products/editor', own)).body).toMatchObject({ product: { settings: own } })
  expect((await ask('PATCH', '/v1/products/editor', { customerSeatFrees: 101 })).status).toBe(400)
})
