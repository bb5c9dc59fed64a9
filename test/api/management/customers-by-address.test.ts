/**
 * Guarantee: a license with an address belongs to the one customer with that address, whether it was minted, imported or sold, unless
 * the workspace or a person says otherwise; licenses of before are linked by a request that can be repeated.
 */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import { makeTenant, openTestApi, type TestApi, type TestTenant } from '../../harness/api.ts'
import { askApproveRepeat } from '../../harness/gate.ts'
import { makeCustomer, makeProduct } from '../../http/samples.ts'
import { askingOfCustomers } from './asking-of-customers.ts'

let api: TestApi
let tenant: TestTenant
beforeAll(async () => {
  api = await openTestApi()
  tenant = await makeTenant(api.ledger)
  await makeProduct(api.ask, tenant.token, 'editor')
})
afterAll(() => api.close())

const { asks, minted, customerOf, Licensed } = askingOfCustomers(() => ({ api, tenant }))
const Customer = z.object({
  customer: z.object({
    email: z.string().nullable(),
    name: z.string().nullable(),
    licenseIds: z.array(z.string()),
  }),
})
const customer = async (id: string | null) => (await asks(Customer, 'GET', `/v1/customers/${id}`)).customer
const Counts = z.object({ linked: z.int(), left: z.int() })
const linkAll = () => asks(Counts, 'POST', '/v1/customers/link-licenses')
const setting = (customersByAddress: boolean) =>
  asks(z.unknown(), 'PATCH', '/v1/workspace', { customersByAddress })

test('licenses with one address have one customer, however it is spelled, and others have another one', async () => {
  const first = await minted({ email: 'ada@example.com', name: 'Ada Lovelace' })
  const second = await minted({ email: 'Ada@Example.com' })
  const other = await minted({ email: 'grace@example.com' })
  const without = await minted({})
  expect(first.customerId).toMatch(/^cus_/)
  expect(second.customerId).toBe(first.customerId)
  expect(other.customerId).not.toBe(first.customerId)
  expect(without.customerId).toBeNull()
  expect(await customer(first.customerId)).toStrictEqual({
    email: 'ada@example.com',
    name: 'Ada Lovelace',
    licenseIds: [second.id, first.id],
  })
})

test('an imported license belongs to the customer that is there', async () => {
  const existing = await makeCustomer(api.ask, tenant.token, { email: 'old@example.com' })
  const licenses = ['K-1', 'K-2'].map((key) => ({ licenseKey: `OLD-KEY-${key}`, email: 'old@example.com' }))
  const Results = z.object({ results: z.array(z.object({ id: z.string() })) })
  const { results } = await asks(Results, 'POST', '/v1/licenses/import', { productId: 'editor', licenses })
  for (const { id } of results) expect(await customerOf(id)).toBe(existing)
  expect((await customer(existing)).licenseIds.toSorted()).toStrictEqual(
    results.map(({ id }) => id).toSorted(),
  )
})

test('a customer who is one person goes before an older organization with the same address', async () => {
  const email = 'office@example.com'
  const organization = await makeCustomer(api.ask, tenant.token, { email })
  await asks(z.unknown(), 'POST', `/v1/customers/${organization}/organization`)
  expect((await minted({ email })).customerId).toBe(organization)
  const person = await makeCustomer(api.ask, tenant.token, { email })
  expect((await minted({ email })).customerId).toBe(person)
})

test('a person decides otherwise: minted for a customer, linked to another one, unlinked', async () => {
  const chosen = await makeCustomer(api.ask, tenant.token, { email: 'company@example.com' })
  expect(await minted({ email: 'bob@example.com', customerId: chosen })).toMatchObject({ customerId: chosen })
  const { id, customerId } = await minted({ email: 'bob@example.com' })
  expect(customerId).not.toBe(chosen)
  const linked = await asks(Customer, 'POST', `/v1/customers/${chosen}/link-license`, { licenseId: id })
  expect(linked.customer.licenseIds).toContain(id)
  const again = { token: tenant.token, body: { licenseId: id } }
  expect(await api.ask('POST', `/v1/customers/${customerId}/link-license`, again)).toMatchObject({
    status: 409,
  })
  await asks(Customer, 'POST', `/v1/customers/${chosen}/unlink-license`, { licenseId: id })
  await linkAll()
  expect(await customerOf(id)).toBeNull()
})

test('a new address of the license moves it to the customer with that address', async () => {
  const { id, customerId } = await minted({ email: 'typo@exmaple.com' })
  const { license } = await asks(Licensed, 'PATCH', `/v1/licenses/${id}`, { email: 'right@example.com' })
  expect(license.customerId).not.toBe(customerId)
  expect(await customer(license.customerId)).toMatchObject({ email: 'right@example.com', licenseIds: [id] })
  expect(await customer(customerId)).toMatchObject({ licenseIds: [] })
})

test('switched off, licenses have no customer until they are linked, by a request that can be repeated', async () => {
  await setting(false)
  const Settings = z.object({ workspace: z.object({ customersByAddress: z.boolean() }) })
  expect(await asks(Settings, 'GET', '/v1/workspace')).toStrictEqual({
    workspace: { customersByAddress: false },
  })
  const licenses = [
    await minted({ email: 'late@example.com' }),
    await minted({ email: 'late@example.com' }),
    await minted({ email: 'later@example.com' }),
    await minted({}),
  ]
  expect(licenses.map(({ customerId }) => customerId)).toStrictEqual([null, null, null, null])
  expect(await linkAll()).toStrictEqual({ linked: 3, left: 0 })
  expect(await linkAll()).toStrictEqual({ linked: 0, left: 0 })
  const [one, two, three, four] = await Promise.all(licenses.map(({ id }) => customerOf(id)))
  expect(one).toMatch(/^cus_/)
  expect(two).toBe(one)
  expect(three).not.toBe(one)
  expect(four).toBeNull()
  await setting(true)
  expect(await minted({ email: 'late@example.com' })).toMatchObject({ customerId: one })
})

test('an erased customer keeps their licenses, and their address begins anew', async () => {
  const { id, customerId } = await minted({ email: 'gone@example.com' })
  const erased = await askApproveRepeat(api, tenant, 'DELETE', `/v1/customers/${customerId}`)
  expect(erased.status).toBe(200)
  const next = await minted({ email: 'gone@example.com' })
  expect(next.customerId).not.toBe(customerId)
  expect(await customerOf(id)).toBe(customerId)
  expect(await linkAll()).toStrictEqual({ linked: 0, left: 0 })
})
