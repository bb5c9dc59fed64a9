/**
 * Guarantee: every write of the management interface answers a dry run and changes nothing, or refuses it and says why.
 */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import { type Method, makeTenant, openTestApi, type TestApi, type TestTenant } from '../harness/api.ts'
import { addTestEndpoint } from '../harness/dispatch.ts'
import { uniqueId } from '../harness/ledger.ts'
import { makeCustomer, makeProduct, mint } from './samples.ts'

let api: TestApi
let tenant: TestTenant
const ids: Record<string, string> = {}
beforeAll(async () => {
  api = await openTestApi()
  tenant = await makeTenant(api.ledger)
  const { token } = tenant
  await makeProduct(api.ask, token, 'editor')
  const { id, licenseKey } = await mint(api.ask, token, 'editor')
  const device = { product_id: 'editor', license_key: licenseKey, device_id: 'laptop' }
  await api.ask('POST', '/v1/licenses/activate', { token, body: device })
  const linked = (await mint(api.ask, token, 'editor')).id
  const suspended = (await mint(api.ask, token, 'editor')).id
  const customer = await makeCustomer(api.ask, token)
  await api.ask('POST', `/v1/customers/${customer}/link-license`, { token, body: { licenseId: linked } })
  await api.ask('POST', `/v1/licenses/${suspended}/suspend`, { token, body: {} })
  await api.ask('POST', '/v1/integrations/gumroad/connect', { token })
  await addTestEndpoint(api.ledger, tenant.tenantId, 'https://public.example.com/hook')
  const started = await api.ask('POST', '/v1/webhook/replays', {
    token,
    body: { from: '2026-01-01T00:00:00Z' },
  })
  const { replay } = z.looseObject({ replay: z.looseObject({ id: z.string() }) }).parse(started.body)
  Object.assign(ids, { license: id, linked, suspended, customer, replay: replay.id })
})
afterAll(() => api.close())

const Operation = z.looseObject({
  security: z.array(z.record(z.string(), z.array(z.string()))).optional(),
  parameters: z.array(z.looseObject({ name: z.string(), in: z.string() })).default([]),
})
const Paths = z.record(z.string(), z.record(z.string(), z.unknown()))

/** The writes that a token of the management interface may call, and whether a dry run of each is described. */
const writes = () =>
  Object.entries(Paths.parse(api.app.swagger().paths)).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([name, described]) => {
      const { security, parameters } = Operation.parse(described)
      const method = name.toUpperCase()
      const tokens = (security ?? [{ accessToken: [] }]).flatMap((one) =>
        one.accessToken ? [one.accessToken] : [],
      )
      const isManagement = tokens.length > 0 && !tokens.flat().includes('licenses:runtime')
      if (method === 'GET' || !isManagement || path === '/v1/licenses/search') return []
      const names = parameters.map((one) => one.name)
      const gated = names.includes('X-Service-Confirmation')
      return [{ method: method as Method, path, gated, offered: names.includes('dryRun') }]
    }),
  )

/** The requests of all that offer a dry run and are not gated: the gated ones are in `dry-run.test.ts`. */
const requests = (): Record<string, [path: string, body?: object]> => ({
  'PATCH /v1/products/{productId}': ['/v1/products/editor', { name: 'Other' }],
  'PATCH /v1/products/{productId}/key-types/{keyTypeId}': [
    '/v1/products/editor/key-types/default',
    { name: 'Other' },
  ],
  'PUT /v1/products/{productId}/mail': ['/v1/products/editor/mail', { subject: 'Your key' }],
  'PATCH /v1/workspace': ['/v1/workspace', { name: 'Acme Tools' }],
  'PUT /v1/portal': ['/v1/portal', { enabled: true }],
  'POST /v1/products/{productId}/free-tier': ['/v1/products/editor/free-tier', { enabled: true }],
  'PATCH /v1/licenses/{id}': [`/v1/licenses/${ids.license}`, { deviceLimit: 9, email: 'new@example.com' }],
  'POST /v1/licenses/{id}/suspend': [`/v1/licenses/${ids.license}/suspend`],
  'POST /v1/licenses/{id}/resume': [`/v1/licenses/${ids.suspended}/resume`],
  'POST /v1/licenses/{id}/deactivate-device': [
    `/v1/licenses/${ids.license}/deactivate-device`,
    { deviceId: 'laptop' },
  ],
  'POST /v1/customers/{id}/link-license': [
    `/v1/customers/${ids.customer}/link-license`,
    { licenseId: ids.license },
  ],
  'POST /v1/customers/{id}/unlink-license': [
    `/v1/customers/${ids.customer}/unlink-license`,
    { licenseId: ids.linked },
  ],
  'PATCH /v1/customers/{id}/entitlements': [
    `/v1/customers/${ids.customer}/entitlements`,
    { overrides: [{ entitlement: 'export', effect: 'grant' }] },
  ],
  'POST /v1/webhook/replays/{id}/pause': [`/v1/webhook/replays/${ids.replay}/pause`],
  'POST /v1/webhook/replays/{id}/resume': [`/v1/webhook/replays/${ids.replay}/resume`],
  'POST /v1/webhook/replays/{id}/cancel': [`/v1/webhook/replays/${ids.replay}/cancel`],
  'DELETE /v1/integrations/{provider}': ['/v1/integrations/gumroad'],
})

/** A resumed replay that runs changes nothing. */
const unchanged = new Set(['POST /v1/webhook/replays/{id}/resume'])

/** The position of the log, and a hash of each table. */
async function everything() {
  const { db, services } = api.ledger
  const { rows: tables } = await db.query<{ name: string }>(
    `select format('%I.%I', schemaname, tablename) as name from pg_tables
     where schemaname not in ('pg_catalog', 'information_schema') order by 1`,
  )
  const hashes: Record<string, string> = {}
  for (const { name } of tables) {
    const { rows } = await db.query<{ hash: string }>(
      `select md5(coalesce(string_agg(t::text, ',' order by t::text), '')) as hash from ${name} t`,
    )
    hashes[name] = rows[0]?.hash ?? ''
  }
  return { head: await services.ledger.head(), hashes }
}

const DryRun = z.looseObject({
  dryRun: z.literal(true),
  wouldBeRefused: z.null(),
  sentences: z.array(z.string()),
})

test('every write answers a dry run and changes nothing, or refuses it and says why', async () => {
  const { token } = tenant
  const known = requests()
  const answered: string[] = []
  const before = await everything()
  for (const { method, path, gated, offered } of writes()) {
    if (gated) continue
    const name = `${method} ${path}`
    if (!offered) {
      const { status, body } = await api.ask(method, `${path.replaceAll(/[{}]/g, '')}?dryRun=true`, { token })
      expect({ name, status, body }).toStrictEqual({
        name,
        status: 400,
        body: { error: expect.stringMatching(/has no dry run, because .*; nothing was done$/) as string },
      })
      continue
    }
    const [url = '', body] = known[name] ?? []
    const headers = { 'idempotency-key': uniqueId('key') }
    const answer = await api.ask(method, `${url}?dryRun=true`, { token, body, headers })
    expect({ name, status: answer.status, text: answer.text }).toMatchObject({ name, status: 200 })
    const { sentences } = DryRun.parse(answer.body)
    expect({ name, says: sentences.length > 0 }).toStrictEqual({ name, says: !unchanged.has(name) })
    answered.push(name)
  }
  expect(answered.toSorted()).toStrictEqual(Object.keys(known).toSorted())
  expect(await everything()).toStrictEqual(before)
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
  expect((await api.ask('POST', path(ids.license), { token: reader })).status).toBe(403)
  const absent = await api.ask('POST', path('lic_00000000000000000000000000'), { token: tenant.token })
  expect(absent.status).toBe(404)
  const stranger = await makeTenant(api.ledger)
  expect((await api.ask('POST', path(ids.license), { token: stranger.token })).status).toBe(404)
})
