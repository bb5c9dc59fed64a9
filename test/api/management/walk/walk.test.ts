/**
 * Guarantee: for any sequence of management calls, each is answered as the plainest model of the interface expects, and at the end
 * every list, page by page and by filter, shows exactly what the model holds.
 */
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import { openTestApi, type TestApi } from '../../../harness/api.ts'
import { testMs } from '../../../harness/time-limits.ts'
import { wholeVariable } from '../../../harness/variables.ts'
import { licenseSteps } from './license-steps.ts'
import { shopSteps } from './shop-steps.ts'
import { allOf, type Model, newWorld, type World } from './world.ts'

let api: TestApi
beforeAll(async () => {
  api = await openTestApi()
})
afterAll(() => api.close())

/** `KEYLEDGER_TEST_WALK=4000` for the long run. */
const calls = wholeVariable('KEYLEDGER_TEST_WALK', 300)

test(`${String(calls)} calls are answered as expected`, { timeout: testMs + calls * 500 }, async () => {
  const steps = fc.commands([...shopSteps, ...licenseSteps, ...licenseSteps], {
    maxCommands: 150,
    size: 'max',
  })
  let made = 0
  const walk = fc.asyncProperty(steps, async (walked) => {
    const world = await newWorld(api)
    await fc.asyncModelRun(() => world, walked)
    await expectLists(world.model, world.real)
    made += world.model.calls
  })
  while (made < calls) await fc.assert(walk, { numRuns: 1, endOnFailure: true })
})

const Items = z.array(z.looseObject({ id: z.string() }))

async function expectLists(
  model: Model,
  { api: { ask }, tenant: { token }, licenses, customers }: World,
): Promise<void> {
  const list = async (url: string) => Items.parse(await allOf(ask, token, url, 7))
  const expectLicenses = async (query: string, holds: (license: Model['licenses'][number]) => boolean) => {
    const ids = licenses.filter((_, index) =>
      model.licenses.some((license, at) => at === index && holds(license)),
    )
    const found = await list(`/v1/licenses?${query}`)
    expect(found.map(({ id }) => id).toSorted()).toStrictEqual(ids.map(({ id }) => id).toSorted())
    return found
  }
  const shownCustomers = await list('/v1/customers?')
  const made = shownCustomers.filter(({ id }) => !customers.includes(id))
  const buyers = new Map(made.map(({ id, email }) => [email, id]))
  expect([...buyers.keys()].toSorted()).toStrictEqual([...model.buyers].toSorted())
  const all = await expectLicenses('', () => true)
  for (const shown of all) {
    const license = model.licenses[licenses.findIndex(({ id }) => id === shown.id)]
    if (!license) throw new Error('the list has the licenses of the model')
    const { productId, keyTypeId, email, status, limit, devices, customer } = license
    expect(shown).toMatchObject({
      productId,
      keyTypeId,
      email,
      status,
      deviceLimit: limit,
      seatsUsed: devices.size,
    })
    const ofAddress = typeof customer === 'object' && buyers.get(customer.email)
    expect(shown.customerId).toBe(ofAddress || (typeof customer === 'number' ? customers[customer] : null))
  }
  for (const status of ['active', 'suspended', 'revoked'])
    await expectLicenses(`status=${status}&`, (license) => license.status === status)
  for (const [productId, product] of model.products) {
    await expectLicenses(`product=${productId}&`, (license) => license.productId === productId)
    const { body } = await ask('GET', `/v1/products/${productId}`, { token })
    const { name, freeTierEnabled } = product
    const keyTypes = [...product.keyTypes].map(([keyTypeId, keyType]) => ({ keyTypeId, ...keyType }))
    expect(body).toMatchObject({ product: { productId, name, settings: { freeTierEnabled }, keyTypes } })
  }
  expect(await allOf(ask, token, '/v1/products?', 2)).toHaveLength(model.products.size)
  for (const [index, id] of customers.entries())
    expect(shownCustomers.find((shown) => shown.id === id)).toMatchObject(model.customers[index] ?? {})
  expect(shownCustomers).toHaveLength(customers.length + model.buyers.size)
}
