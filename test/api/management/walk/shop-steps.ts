import fc from 'fast-check'
import { expect } from 'vitest'
import { z } from 'zod'
import { at, expectStatus, gated, type Model, type Step, step } from './world.ts'

const anyProduct = fc.constantFrom('editor', 'viewer', 'server')
const anyKeyType = fc.constantFrom('base', 'team', 'site')
const anyLimit = fc.constantFrom(1, 2, 5, null)
const anyName = fc.constantFrom('Grace', 'Ada', 'Zoë', '李', 'O’Neill')
const anyCustomer = fc.nat({ max: 20 })

const isLive = ({ licenses }: Model, productId: string, keyTypeId: string): boolean =>
  licenses.some(
    (license) =>
      license.productId === productId && license.keyTypeId === keyTypeId && license.status !== 'revoked',
  )

const createProduct = (productId: string, deviceLimit: number | null) =>
  step(`create ${productId}`, async ({ products }, call) => {
    const keyTypes = [{ keyTypeId: 'base', name: 'Base', deviceLimit }]
    const answer = await call('POST', '/v1/products', { productId, name: productId, keyTypes })
    expectStatus(answer, products.has(productId) ? 409 : 201)
    if (!products.has(productId))
      products.set(productId, {
        name: productId,
        freeTierEnabled: false,
        keyTypes: new Map([['base', { name: 'Base', deviceLimit }]]),
      })
  })

const renameProduct = (productId: string, name: string) =>
  step(`rename ${productId}`, async ({ products }, call) => {
    const known = products.get(productId)
    const answer = await call('PATCH', `/v1/products/${productId}`, { name })
    expectStatus(answer, known ? 200 : 404)
    if (!known) return
    known.name = name
    expect(answer.body).toMatchObject({
      product: { productId, name, settings: { freeTierEnabled: known.freeTierEnabled } },
    })
  })

const setFreeTier = (productId: string, enabled: boolean) =>
  step(`free tier of ${productId}: ${enabled}`, async ({ products }, call) => {
    const known = products.get(productId)
    const answer = await call('POST', `/v1/products/${productId}/free-tier`, { enabled })
    expectStatus(answer, known ? 200 : 404)
    if (known) known.freeTierEnabled = enabled
  })

const addKeyType = (productId: string, keyTypeId: string, deviceLimit: number | null) =>
  step(`add ${keyTypeId} to ${productId}`, async ({ products }, call) => {
    const keyTypes = products.get(productId)?.keyTypes
    const sent = { keyTypeId, name: keyTypeId, deviceLimit }
    const answer = await call('POST', `/v1/products/${productId}/key-types`, sent)
    expectStatus(answer, !keyTypes ? 404 : keyTypes.has(keyTypeId) ? 409 : 201)
    if (keyTypes && !keyTypes.has(keyTypeId)) keyTypes.set(keyTypeId, { name: keyTypeId, deviceLimit })
  })

const changeKeyType = (productId: string, keyTypeId: string, deviceLimit: number | null) =>
  step(`change ${keyTypeId} of ${productId}`, async ({ products }, call) => {
    const known = products.get(productId)?.keyTypes.get(keyTypeId)
    const answer = await call('PATCH', `/v1/products/${productId}/key-types/${keyTypeId}`, { deviceLimit })
    expectStatus(answer, known ? 200 : 404)
    if (!known) return
    known.deviceLimit = deviceLimit
    expect(answer.body).toMatchObject({ updated: { keyTypeId, ...known } })
  })

const deleteKeyType = (productId: string, keyTypeId: string) =>
  step(`delete ${keyTypeId} of ${productId}`, async (model, call, real) => {
    const keyTypes = model.products.get(productId)?.keyTypes
    const answer = await gated(call, real, 'DELETE', `/v1/products/${productId}/key-types/${keyTypeId}`)
    if (!keyTypes?.has(keyTypeId)) return expectStatus(answer, 404)
    if (keyTypes.size === 1 || isLive(model, productId, keyTypeId)) return expectStatus(answer, 409)
    expectStatus(answer, 200)
    keyTypes.delete(keyTypeId)
  })

const Customer = z.object({ customer: z.looseObject({ id: z.string() }) })

const createCustomer = (name: string) =>
  step(`create the customer ${name}`, async ({ customers }, call, real) => {
    const email = `customer-${String(customers.length)}@example.com`
    const answer = await call('POST', '/v1/customers', { email, name })
    expectStatus(answer, 201)
    real.customers.push(Customer.parse(answer.body).customer.id)
    customers.push({ email, name })
  })

const renameCustomer = (index: number, name: string | null) =>
  step(`rename customer ${String(index)}`, async ({ customers }, call, real) => {
    const known = at(customers, index)
    const answer = await call('PATCH', `/v1/customers/${at(real.customers, index) ?? 'cus_absent'}`, { name })
    expectStatus(answer, known ? 200 : 404)
    if (!known) return
    known.name = name
    expect(answer.body).toMatchObject({ customer: known })
  })

/** Steps about products, their key types, and customers. */
export const shopSteps: fc.Arbitrary<Step>[] = [
  fc.tuple(anyProduct, anyLimit).map((given) => createProduct(...given)),
  fc.tuple(anyProduct, anyName).map((given) => renameProduct(...given)),
  fc.tuple(anyProduct, fc.boolean()).map((given) => setFreeTier(...given)),
  fc.tuple(anyProduct, anyKeyType, anyLimit).map((given) => addKeyType(...given)),
  fc.tuple(anyProduct, anyKeyType, anyLimit).map((given) => changeKeyType(...given)),
  fc.tuple(anyProduct, anyKeyType).map((given) => deleteKeyType(...given)),
  anyName.map(createCustomer),
  fc.tuple(anyCustomer, fc.option(anyName)).map((given) => renameCustomer(...given)),
]
