/**
 * Guarantee: a file of licenses is checked before anything is written, imported in steps by the command of the API, and
 * imports nothing twice, however often it is sent.
 */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { makeTenant, openTestApi, type TestApi, type TestTenant } from '../harness/api.ts'
import { makeProduct } from '../http/samples.ts'
import { type Client, clientOf, type Seen } from './client.ts'
import { fieldsOf, wordsOf } from './forms.ts'
import { makeMember } from './members.ts'

let api: TestApi
let tenant: TestTenant
let client: Client
beforeAll(async () => {
  api = await openTestApi()
  tenant = await makeTenant(api.ledger)
  await makeProduct(api.ask, tenant.token, 'editor', { name: 'Editor' })
  client = clientOf(api.app)
  await client.signIn(await makeMember(api.ledger, tenant.tenantId, 'support'))
})
afterAll(() => api.close())

const path = '/dashboard/import-licenses'

/** Sends the form with a file, as browsers do. */
async function send(url: string, fields: Record<string, string>, file?: string): Promise<Seen> {
  const form = new FormData()
  for (const [name, value] of Object.entries({ _csrf: client.formToken(), ...fields })) form.set(name, value)
  if (file !== undefined) form.set('file', new Blob([file], { type: 'text/csv' }), 'licenses.csv')
  const encoded = new Response(form)
  const headers = { 'content-type': encoded.headers.get('content-type') ?? '' }
  return client.send({ method: 'POST', url, payload: Buffer.from(await encoded.arrayBuffer()), headers })
}
const upload = async (file: string, product = 'editor') => {
  await client.get(path)
  return send(path, { product }, file)
}
const licenses = async () => {
  const { body } = await api.ask('GET', '/v1/licenses?limit=100', { token: tenant.token })
  return (body as { items: Record<string, unknown>[] }).items
}

const csv = [
  'License key,email,Expires at,quantity,devices,metadata.order',
  'OLD-0001-AAAA,ada@example.com,2040-01-31,,mac-1 mac-2,A-1',
  '"OLD-0002-BBBB","grace@example.com",never,,,"A, ""2"""',
  'OLD-0002-BBBB,,,,,',
  'short,,,,,',
  'OLD-0003-CCCC,no-address,,,,',
  'OLD-0004-DDDD,,,7,,',
].join('\r\n')

test('the preview says what would happen to each row, and writes nothing', async () => {
  await api.ask('PATCH', '/v1/products/editor/key-types/default', {
    token: tenant.token,
    body: { deviceLimit: 2 },
  })
  const words = wordsOf(await upload(csv))
  expect(words).toContain('Rows 6 New licenses 2 Already in keyledger 0 Not importable 4')
  expect(words).toMatch(
    /4 The same key as in line 3\. 5 LicenseKey is too short.* 6 email must be an email address 7 This key type is not sold/,
  )
  expect(await licenses()).toStrictEqual([])
})

test('the import writes what the preview said, and the same file again writes nothing', async () => {
  const result = await send(`${path}/run`, fieldsOf(await upload(csv)))
  expect(wordsOf(result)).toContain('Rows 6 Imported 2 Already in keyledger 0 Not importable 4')
  const imported = await licenses()
  expect(imported).toHaveLength(2)
  expect(imported).toContainEqual(
    expect.objectContaining({
      email: 'ada@example.com',
      expiresAt: '2040-01-31T00:00:00.000Z',
      seatsUsed: 2,
      metadata: { order: 'A-1' },
      source: 'import',
    }),
  )
  expect(imported).toContainEqual(expect.objectContaining({ expiresAt: null, metadata: { order: 'A, "2"' } }))
  expect(wordsOf(await upload(csv))).toContain('New licenses 0 Already in keyledger 3')
  expect(await licenses()).toStrictEqual(imported)
})

test('more rows than a step has are imported step by step, and a step that is sent twice counts nothing twice', async () => {
  const rows = Array.from({ length: 501 }, (_, n) =>
    JSON.stringify({ licenseKey: `STEP-${String(n).padStart(6, '0')}` }),
  )
  const step = fieldsOf(await upload(rows.join('\n')))
  const first = await send(`${path}/run`, step)
  expect(wordsOf(first)).toContain('500 of 501 rows processed.')
  const again = await send(`${path}/run`, step)
  expect(wordsOf(again)).toContain('Imported 0 Already in keyledger 500')
  expect(wordsOf(await send(`${path}/run`, fieldsOf(first)))).toContain(
    'Rows 501 Imported 501 Already in keyledger 0',
  )
})

test.each([
  ['', 'Choose a file that is not empty.'],
  ['name,email\na,b', 'The first line must name the columns, and one of them licenseKey.'],
  ['licenseKey,colour\na,b', 'There are unknown columns: colour.'],
  ['licenseKey\n"open', 'a quotation mark is not closed'],
])('the file %j is not read', async (file, sentence) => {
  const seen = await upload(file)
  expect(seen.status).toBe(422)
  expect(wordsOf(seen)).toContain(sentence)
})

test("another workspace's product is not imported into", async () => {
  const other = await makeTenant(api.ledger)
  await makeProduct(api.ask, other.token, 'foreign')
  expect(wordsOf(await upload(csv, 'foreign'))).toContain('Choose a product.')
  const step = { ...fieldsOf(await upload(csv)), product: 'foreign' }
  expect((await send(`${path}/run`, step)).status).toBe(404)
})
