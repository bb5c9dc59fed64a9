/**
 * Guarantee: a token of a reseller reaches what is marked for resellers and nothing else. Of the things of the vendor, of another
 * reseller and of another tenant it gets the same answers as of what does not exist, and it learns no address that they know.
 */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import { createToken } from '../../src/commands/tokens.ts'
import { resellerScopes } from '../../src/domain/tokens/events.ts'
import { type Answer, makeTenant, openTestApi, type TestApi, type TestTenant } from '../harness/api.ts'
import { askApproveRepeat } from '../harness/gate.ts'
import { origin } from '../harness/ledger.ts'
import { makeCustomer, makeProduct, mint } from './samples.ts'

let api: TestApi
let vendor: TestTenant
let stranger: TestTenant
let own: Selling
let rival: Selling
let absentVendor: Selling

type Selling = { resellerId: string; token: string; customer: string; license: string }

const Reseller = z.object({
  reseller: z.object({
    id: z.string(),
    status: z.string(),
    quotas: z.array(z.object({ keyTypeId: z.string(), licenses: z.int(), used: z.int() })),
  }),
})
const Minted = z.object({
  license: z.object({ id: z.string(), customerId: z.string(), keyTypeId: z.string() }),
})

const quotas = [{ productId: 'editor', keyTypeId: 'team', licenses: 3 }]

async function reseller(tenant: TestTenant): Promise<Omit<Selling, 'customer' | 'license'>> {
  const body = { name: 'Northwind', quotas }
  const made = await api.ask('POST', '/v1/resellers', { token: tenant.token, body })
  const { id: resellerId } = Reseller.parse(made.body).reseller
  const input = { tenantId: tenant.tenantId, name: 'their shop', scopes: resellerScopes, expiresAt: null }
  const { token } = await createToken(api.ledger.ports, { ...input, resellerId }, origin)
  return { resellerId, token }
}

async function selling(tenant: TestTenant, email: string): Promise<Selling> {
  const made = await reseller(tenant)
  const minted = await api.ask('POST', '/v1/licenses', {
    token: made.token,
    body: { productId: 'editor', email },
  })
  const { license } = Minted.parse(minted.body)
  return { ...made, customer: license.customerId, license: license.id }
}

beforeAll(async () => {
  api = await openTestApi()
  vendor = await makeTenant(api.ledger)
  stranger = await makeTenant(api.ledger)
  for (const { token } of [vendor, stranger]) {
    await makeProduct(api.ask, token, 'editor', { keyTypes: [{ name: 'Single' }, { name: 'Team' }] })
    await makeProduct(api.ask, token, 'secret')
  }
  own = await selling(vendor, 'own@example.com')
  rival = await selling(vendor, 'rival@example.com')
  absentVendor = await selling(stranger, 'else@example.com')
})
afterAll(() => api.close())

/** The response without what differs between any two requests. */
function comparable({ status, text, headers }: Answer) {
  const { 'request-id': _, date: __, ...rest } = headers
  return { status, text, headers: rest }
}

const asks = (method: 'GET' | 'POST', url: string, body?: object) =>
  api.ask(method, url, { token: own.token, body })
const used = async () => {
  const { body } = await asks('GET', `/v1/resellers/${own.resellerId}`)
  return Reseller.parse(body).reseller.quotas[0]?.used
}

/** The operations that are marked for resellers. */
const forResellers = [
  'POST /v1/logout',
  'GET /v1/tokens/verify',
  'GET /v1/licenses',
  'POST /v1/licenses',
  'GET /v1/licenses/{id}',
  'GET /v1/customers',
  'POST /v1/customers',
  'GET /v1/customers/{id}',
  'GET /v1/resellers/{id}',
]

test('every other operation answers a token of a reseller as one without the scope', async () => {
  const Document = z.object({
    paths: z.record(
      z.string(),
      z.record(z.string(), z.looseObject({ security: z.array(z.record(z.string(), z.unknown())) })),
    ),
  })
  const { paths } = Document.parse((await api.ask('GET', '/v1/openapi.json')).body)
  const tried: string[] = []
  for (const [path, operations] of Object.entries(paths)) {
    for (const [method, { security }] of Object.entries(operations)) {
      const route = `${method.toUpperCase()} ${path}`
      if (!security.some((way) => 'accessToken' in way) || forResellers.includes(route)) continue
      const name = z.enum(['GET', 'POST', 'PATCH', 'PUT', 'DELETE']).parse(method.toUpperCase())
      const url = path.replaceAll('{id}', own.license).replaceAll(/\{\w+\}/g, 'editor')
      const { status, text } = await api.ask(name, url, { token: own.token })
      expect([route, status, text]).toStrictEqual([
        route,
        403,
        expect.stringMatching(/the token lacks the scope [a-z:]+; create one that has it/),
      ])
      tried.push(route)
    }
  }
  expect(tried.length).toBeGreaterThan(100)
})

test('things of the vendor, another reseller and another tenant answer as absent ones', async () => {
  const vendors = {
    license: (await mint(api.ask, vendor.token, 'editor', { email: 'v@example.com' })).id,
    customer: await makeCustomer(api.ask, vendor.token),
  }
  const absent = { license: 'lic_00000000000000000000000000', customer: 'cus_00000000000000000000000000' }
  const places = ({ license, customer }: { license: string; customer: string }) =>
    [
      ['GET', `/v1/licenses/${license}`],
      ['GET', `/v1/licenses/${license}?asOf=2100-01-01T00:00:00Z`],
      ['GET', `/v1/customers/${customer}`],
      ['GET', `/v1/licenses?customer=${customer}`],
      ['POST', '/v1/licenses', { productId: 'editor', customerId: customer }],
      ['POST', '/v1/licenses?dryRun=true', { productId: 'editor', customerId: customer }],
    ] as const
  for (const foreign of [vendors, rival, absentVendor]) {
    for (const [at, [method, url, body]] of places(foreign).entries()) {
      const [, none, same] = places(absent)[at] ?? []
      const answer = comparable(await asks(method, url, body))
      expect(answer).toStrictEqual(comparable(await asks(method, none ?? '', same)))
      if (!url.includes('?')) expect(answer.status).toBe(404)
    }
  }
  const unknown = await asks('GET', '/v1/resellers/rsl_00000000000000000000000000')
  for (const { resellerId } of [rival, absentVendor])
    expect(comparable(await asks('GET', `/v1/resellers/${resellerId}`))).toStrictEqual(comparable(unknown))
})

test('the lists have what is theirs', async () => {
  const Items = z.object({ items: z.array(z.looseObject({ id: z.string() })) })
  const ids = async (url: string) => Items.parse((await asks('GET', url)).body).items.map(({ id }) => id)
  expect(await ids('/v1/licenses')).toStrictEqual([own.license])
  expect(await ids('/v1/customers')).toStrictEqual([own.customer])
  for (const email of ['rival@example.com', 'v@example.com', 'nobody@example.com']) {
    expect(await ids(`/v1/customers?email=${email}`)).toStrictEqual([])
    expect(await ids(`/v1/licenses?email=${email}`)).toStrictEqual([])
  }
})

test('what has no quota is as if it were not there', async () => {
  const asking = async (body: object) => comparable(await asks('POST', '/v1/licenses', body))
  const email = 'x@example.com'
  expect(await asking({ productId: 'secret', email })).toStrictEqual(
    await asking({ productId: 'absent', email }),
  )
  expect(await asking({ productId: 'editor', keyTypeId: 'single', email })).toStrictEqual(
    await asking({ productId: 'editor', keyTypeId: 'absent', email }),
  )
})

test('an address that the vendor and a rival know belongs to a customer of the reseller alone', async () => {
  const known = await makeCustomer(api.ask, vendor.token, { email: 'shared@example.com', name: 'Known' })
  const theirs = (
    await api.ask('POST', '/v1/licenses', {
      token: rival.token,
      body: { productId: 'editor', email: 'shared@example.com' },
    })
  ).body
  const minted = Minted.parse(
    (await asks('POST', '/v1/licenses', { productId: 'editor', email: 'shared@example.com' })).body,
  )
  const customers = [known, Minted.parse(theirs).license.customerId, minted.license.customerId]
  expect(new Set(customers).size).toBe(3)
  const { body } = await asks('GET', `/v1/customers/${minted.license.customerId}`)
  expect(body).toMatchObject({ customer: { name: null, licenseIds: [minted.license.id] } })
  // Nor does what the vendor mints for this address go to the reseller's customer.
  const sold = await api.ask('POST', '/v1/licenses', {
    token: vendor.token,
    body: { productId: 'editor', email: 'shared@example.com' },
  })
  expect(Minted.parse(sold.body).license.customerId).toBe(known)
  expect(minted.license.keyTypeId).toBe('team')
})

test('the terms are those of the vendor', async () => {
  const body = { productId: 'editor', email: 'own@example.com' }
  for (const term of [{ quantity: 9 }, { deviceLimit: null }, { expiresAt: null }, { updatesUntil: null }]) {
    expect(await asks('POST', '/v1/licenses', { ...body, ...term })).toMatchObject({ status: 422 })
  }
  expect(await asks('POST', '/v1/licenses', { productId: 'editor' })).toMatchObject({
    status: 422,
    body: { error: expect.stringContaining('customer') as string },
  })
})

test('what the vendor takes from the reseller they no longer see, and it stays used', async () => {
  const body = { productId: 'editor', customerId: own.customer }
  const minted = await asks('POST', '/v1/licenses', body)
  const { id } = Minted.parse(minted.body).license
  const before = await used()
  const over = { token: vendor.token, body: { licenseId: id } }
  await api.ask('POST', `/v1/customers/${own.customer}/unlink-license`, over)
  expect(await asks('GET', `/v1/licenses/${id}`)).toMatchObject({ status: 404 })
  expect((await asks('GET', `/v1/customers/${own.customer}`)).text).not.toContain(id)
  expect(await used()).toBe(before)
})

test('the quota ends, a repeated request takes nothing more, and a raised quota goes on', async () => {
  const fresh = await reseller(vendor)
  const mints = (key: string) =>
    api.ask('POST', '/v1/licenses', {
      token: fresh.token,
      body: { productId: 'editor', email: 'many@example.com' },
      headers: { 'idempotency-key': key },
    })
  for (const key of ['1', '1', '2', '3', '3']) expect(await mints(key)).toMatchObject({ status: 201 })
  expect(await mints('4')).toMatchObject({ status: 409, headers: { 'error-code': 'reseller_quota_used' } })
  const change = (licenses: number) =>
    api.ask('PATCH', `/v1/resellers/${fresh.resellerId}`, {
      token: vendor.token,
      body: { quotas: [{ ...quotas[0], licenses }] },
    })
  expect(await change(2)).toMatchObject({ status: 422 })
  expect(await change(4)).toMatchObject({ status: 200 })
  expect(await mints('5')).toMatchObject({ status: 201 })
})

test('a closed reseller reaches nothing, from the next request on', async () => {
  const fresh = await reseller(vendor)
  const asking = () => api.ask('GET', '/v1/licenses', { token: fresh.token })
  expect(await asking()).toMatchObject({ status: 200 })
  const closing = { token: vendor.token }
  const closed = await askApproveRepeat(
    api,
    vendor,
    'POST',
    `/v1/resellers/${fresh.resellerId}/close`,
    closing,
  )
  expect(closed).toMatchObject({ status: 200 })
  expect(await asking()).toMatchObject({ status: 401 })
})
