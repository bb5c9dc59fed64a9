/**
 * Guarantee: every write answers a dry run and changes nothing, or refuses it and says why.
 */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import { recordCredit } from '../../src/commands/meters/meters.ts'
import { amountOf } from '../../src/domain/meters/amount.ts'
import { type Method, makeTenant, openTestApi, type TestApi } from '../harness/api.ts'
import { origin, uniqueId } from '../harness/ledger.ts'
import { openShop, type Shop } from '../sales/shop.ts'
import { rehearsals, type Shelf, stock, unchanging } from './dry-run-requests.ts'
import { importRows, makeProduct, mint } from './samples.ts'

const mailer = { send: () => expect.unreachable('a mail was sent'), close: async () => undefined }
let api: TestApi
let tenant: Shop
let shelf: Shelf
beforeAll(async () => {
  // With a mail server, since a kept key is not shown on the page of the mailbox.
  api = await openTestApi({
    mailing: { mailer, mailbox: undefined, from: { name: 'Keys', email: 'keys@example.com' } },
  })
  tenant = await openShop(api)
  shelf = await stock(api, tenant)
})
afterAll(() => api.close())

const Operation = z.looseObject({
  security: z.array(z.record(z.string(), z.array(z.string()))).optional(),
  parameters: z.array(z.looseObject({ name: z.string(), in: z.string() })).default([]),
})
const Paths = z.record(z.string(), z.record(z.string(), z.unknown()))

/** Every write of the description, and whether a dry run of it is described. */
const writes = () =>
  Object.entries(Paths.parse(api.app.swagger().paths)).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([name, described]) => {
      if (name === 'get') return []
      const { security = [], parameters } = Operation.parse(described)
      const names = parameters.map((one) => one.name)
      const key = security.some((one) => 'checkoutKey' in one) ? shelf.checkoutKey : shelf.token
      return [{ method: name.toUpperCase() as Method, path, key, offered: names.includes('dryRun') }]
    }),
  )

/** The position of the log, and a hash of each table but the one of rate limits, which count every request. */
async function everything() {
  const { db, ports } = api.ledger
  const { rows: tables } = await db.query<{ name: string }>(
    `select format('%I.%I', schemaname, tablename) as name from pg_tables
     where schemaname not in ('pg_catalog', 'information_schema') and tablename <> 'attempts' order by 1`,
  )
  const hashes: Record<string, string> = {}
  for (const { name } of tables) {
    const { rows } = await db.query<{ hash: string }>(
      `select md5(coalesce(string_agg(t::text, ',' order by t::text), '')) as hash from ${name} t`,
    )
    hashes[name] = rows[0]?.hash ?? ''
  }
  return { head: await ports.ledger.head(), hashes }
}

const DryRun = z.looseObject({
  dryRun: z.literal(true),
  wouldBeRefused: z.null(),
  sentences: z.array(z.string()),
})

/** The answers of OAuth hold no more than a code. */
const isOAuth = (path: string) => path.startsWith('/v1/login/')

test('every write answers a dry run and changes nothing, or refuses it and says why', async () => {
  const known = rehearsals(shelf)
  const answered: string[] = []
  const before = await everything()
  for (const { method, path, key: token, offered } of writes()) {
    const name = `${method} ${path}`
    if (!offered) {
      const place = path.replace('{tenantId}', shelf.ids.tenant).replace('{productId}', 'editor')
      const url = `${place.replaceAll(/[{}]/g, '')}?dryRun=true`
      const answer = await api.ask(method, url, { token, headers: { 'x-service-sdk-key': shelf.sdkKey } })
      expect({ name, status: answer.status, text: answer.text }).toStrictEqual({
        name,
        status: 400,
        text: isOAuth(path)
          ? '{"error":"invalid_request"}'
          : (expect.stringMatching(/has no dry run, because .*; nothing was done/) as string),
      })
      continue
    }
    const [url = '', body] = known[name] ?? []
    const headers = { 'idempotency-key': uniqueId('key') }
    const answer = await api.ask(method, `${url}?dryRun=true`, { token, body, headers })
    expect({ name, ...answer }).toMatchObject({ name, status: 200, body: { wouldBeRefused: null } })
    const { sentences } = DryRun.parse(answer.body)
    expect({ name, says: sentences.length > 0 }).toStrictEqual({ name, says: !unchanging.has(name) })
    answered.push(name)
  }
  expect(answered.toSorted()).toStrictEqual(Object.keys(known).toSorted())
  expect(await everything()).toStrictEqual(before)
})

const sentencesOf = async (path: string, body: object, token = tenant.token) => {
  const answer = await api.ask('POST', `${path}?dryRun=true`, { token, body })
  expect({ status: answer.status, text: answer.text }).toMatchObject({ status: 200 })
  return DryRun.parse(answer.body).sentences
}

test('what a call would create is counted, since its ids exist only later, and no key is made up for it', async () => {
  const { token } = await makeTenant(api.ledger)
  await makeProduct(api.ask, token, 'editor')
  const minted = await api.ask('POST', '/v1/licenses?dryRun=true', { token, body: { productId: 'editor' } })
  expect(minted.body).toMatchObject({
    effect: { also: [{ what: 'created', category: 'license', count: 1, events: ['LicenseMinted'] }] },
    sentences: ['Creates 1 license'],
  })
  expect(minted.text).not.toMatch(/licenseKey|lic_|ACME/)
  expect(await sentencesOf('/v1/customers', { email: 'ada@example.com' }, token)).toStrictEqual([
    'Creates 1 customer',
  ])
})

test('a dry run of an import says which rows it would not import', async () => {
  await importRows(api.ask, tenant.token, 'editor', [{ licenseKey: 'TAKEN-4711-XKCD' }])
  const licenses = [
    { licenseKey: 'TAKEN-4711-XKCD' },
    { licenseKey: 'FRESH-1234-ABCD' },
    { licenseKey: 'FRESH-5678-ABCD', email: 'grace@example.com', devices: [{ deviceId: 'desk' }] },
    { licenseKey: '1' },
  ]
  expect(await sentencesOf('/v1/licenses/import', { productId: 'editor', licenses })).toStrictEqual([
    '1 device gets its seat: “desk”',
    'Creates 1 customer',
    'Creates 2 licenses',
    '1 row is a duplicate',
    '1 row is invalid',
    'Row 3 is invalid: “licenseKey is too short; it needs at least 6 letters or digits”',
    '1 webhook license.activated to public.example.com',
  ])
})

test('a sale that would be licensed has its license in the dry run, and is parked still', async () => {
  const { ids } = shelf
  const body = { productId: 'editor', keyTypeId: 'forever' }
  expect(await sentencesOf(`/v1/sales/${ids.unmapped}/map`, body)).toEqual(
    expect.arrayContaining([expect.stringContaining('Creates 1 license')]),
  )
  const read = await api.ask('GET', `/v1/sales/${ids.unmapped}`, { token: tenant.token })
  expect(read.body).toMatchObject({ sale: { status: 'parked', licenseId: null } })
  expect(await api.ask('POST', `/v1/sales/${ids.unmapped}/map`, { token: tenant.token, body })).toMatchObject(
    {
      status: 200,
      body: { licensed: 1, stillParked: 0 },
    },
  )
})

test.each([
  ['a product that is there', '/v1/products', { name: 'Editor', productId: 'editor' }, 409, 'product_exists'],
  [
    'a key without an address',
    '/v1/licenses',
    { productId: 'editor', sendKey: true },
    409,
    'license_without_address',
  ],
  [
    'an end in the past',
    '/v1/licenses',
    { productId: 'editor', expiresAt: '2020-01-01T00:00:00Z' },
    422,
    'expiry_in_the_past',
  ],
  [
    'a live test key',
    '/v1/products/editor/test-mode',
    { publishableKey: 'pk_1', secretKey: 'sk_1' },
    422,
    'test_keys_wanted',
  ],
  [
    'a mapping without a connection',
    '/v1/products/editor/integrations/polar',
    { products: { p: 'forever' } },
    409,
    'integration_not_connected',
  ],
])(
  'a dry run names the refusal of the call itself, with its stable code: %s',
  async (_, path, body, status, code) => {
    const { token } = tenant
    const asked = await api.ask('POST', `${path}?dryRun=true`, { token, body })
    const done = await api.ask('POST', path, { token, body })
    expect(done).toMatchObject({ status, headers: { 'error-code': code } })
    expect(asked).toMatchObject({
      status: 200,
      body: { wouldBeRefused: { status, code, ...z.object({ error: z.string() }).parse(done.body) } },
    })
  },
)

test('a dry run of a credit knows what the read models do not have yet', async () => {
  const { metered: licenseId } = shelf.ids
  const owner = { tenantId: tenant.tenantId, productId: 'metered', licenseId, meter: 'calls', unit: 'calls' }
  const credit = { key: 'newest', amount: amountOf('5'), endsAt: null, order: null }
  await recordCredit(api.ledger.ports, owner, credit, origin)
  const path = `/v1/licenses/${licenseId}/credits`
  const body = { meter: 'calls', amount: '5', idempotencyKey: 'newest' }
  expect(await sentencesOf(path, body)).toStrictEqual([])
  const other = { token: tenant.token, body: { ...body, amount: '6' } }
  expect((await api.ask('POST', `${path}?dryRun=true`, other)).body).toMatchObject({
    wouldBeRefused: { code: 'meter_key_reused' },
  })
})

test('the limit of the plan is checked, and not used up', async () => {
  const { token } = await makeTenant(api.ledger, 'free')
  const asked = (name: string) => ({ token, body: { name } })
  for (let at = 0; at < 20; at++) {
    const rehearsed = await api.ask('POST', '/v1/products?dryRun=true', asked(`Editor ${at}`))
    const { status } = await api.ask('POST', '/v1/products', asked(`Editor ${at}`))
    const code = status === 402 ? 'product_limit_reached' : undefined
    expect(rehearsed.body).toMatchObject({ wouldBeRefused: code === undefined ? null : { status, code } })
    if (code !== undefined) return
  }
  expect.unreachable('the plan has a limit')
})

test('a call that would ask a payment provider refuses a dry run, and asks none', async () => {
  const { token } = tenant
  const body = { webhookSecret: 'secret_of_polar', apiKey: 'polar_oat_1' }
  expect(await api.ask('POST', '/v1/integrations/polar/connect?dryRun=true', { token, body })).toMatchObject({
    status: 400,
    body: {
      error:
        'this call has no dry run, because it asks a payment provider, which takes part only in the call itself; nothing was done',
    },
  })
})

test('test keys that are set already would change nothing', async () => {
  const { token } = tenant
  const path = '/v1/products/editor/test-mode'
  const body = { publishableKey: 'pk_test_same', secretKey: 'rk_test_same' }
  await api.ask('POST', path, { token, body })
  expect(await sentencesOf(path, body)).toStrictEqual([])
  expect(await sentencesOf(path, { ...body, secretKey: 'rk_test_other' })).not.toStrictEqual([])
})

test('a dry run leaves its Idempotency-Key to the call itself, and the call then does what was answered', async () => {
  const { token } = tenant
  const { id } = await mint(api.ask, token, 'editor')
  const headers = { 'idempotency-key': uniqueId('key') }
  const path = `/v1/licenses/${id}/suspend`
  const rehearsed = await api.ask('POST', `${path}?dryRun=true`, { token, headers })
  expect(rehearsed.body).toMatchObject({
    effect: { licenses: { first: [{ id, from: 'active', to: 'suspended' }] } },
  })
  const done = await api.ask('POST', path, { token, headers })
  expect(done).toMatchObject({ status: 200, body: { license: { status: 'suspended' } } })
  expect(done.headers['idempotent-replay']).toBeUndefined()
})

test('a dry run needs the scope of the call, and answers what the call would be refused with', async () => {
  const path = (id: string | undefined) => `/v1/licenses/${id}/suspend?dryRun=true`
  const reader = await tenant.tokenWith('licenses:read')
  expect((await api.ask('POST', path(shelf.ids.license), { token: reader })).status).toBe(403)
  const absent = await api.ask('POST', path('lic_00000000000000000000000000'), { token: tenant.token })
  expect(absent.status).toBe(404)
  const stranger = await makeTenant(api.ledger)
  expect((await api.ask('POST', path(shelf.ids.license), { token: stranger.token })).status).toBe(404)
})
