/**
 * Guarantee: the licenses of a merged customer belong to the one that stands for it, also those that it gets later, and belong to
 * it again once that is undone, whatever the order of merges; what a person decided meanwhile stays.
 */
import fc from 'fast-check'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { z } from 'zod'
import { followMerges } from '../../../src/reactions/merges.ts'
import { makeTenant, openTestApi, type TestApi, type TestTenant } from '../../harness/api.ts'
import { askApproveRepeat } from '../../harness/gate.ts'
import { beginning } from '../../harness/ledger.ts'
import { makeCustomer, makeProduct } from '../../http/samples.ts'
import { askingOfCustomers } from './asking-of-customers.ts'

let api: TestApi
let tenant: TestTenant
beforeAll(async () => {
  api = await openTestApi()
})
afterAll(() => api.close())
beforeEach(async () => {
  api.ledger.clock.set(beginning)
  tenant = await makeTenant(api.ledger)
  await makeProduct(api.ask, tenant.token, 'editor')
})

const { ask, asks, minted, customerOf } = askingOfCustomers(() => ({ api, tenant }))
const Customer = z.object({
  customer: z.object({ licenseIds: z.array(z.string()), mergedInto: z.string().optional() }),
})
const customer = async (id: string) => (await asks(Customer, 'GET', `/v1/customers/${id}`)).customer
const merge = async (id: string, into: string) =>
  (await asks(Customer, 'POST', `/v1/customers/${id}/merge`, { into })).customer
const unmerge = async (id: string) => (await asks(Customer, 'POST', `/v1/customers/${id}/unmerge`)).customer
const make = (email: string) => makeCustomer(api.ask, tenant.token, { email })

/** What the reaction does until nothing is left. */
async function settle(): Promise<void> {
  const reaction = followMerges(api.ledger.ports, ({ error }) => {
    throw error
  })
  do await reaction.poll()
  while (!reaction.isIdle?.())
}

test('the licenses move, and back', async () => {
  const [one, two] = [await make('one@example.com'), await make('two@example.com')]
  const chosen = await minted({ customerId: one })
  const byAddress = await minted({ email: 'one@example.com' })
  expect(await merge(one, two)).toStrictEqual({ licenseIds: [], mergedInto: two })
  expect(await merge(one, two)).toStrictEqual({ licenseIds: [], mergedInto: two })
  expect((await customer(two)).licenseIds).toStrictEqual([byAddress.id, chosen.id])
  expect(await unmerge(one)).toStrictEqual({ licenseIds: [byAddress.id, chosen.id] })
  expect(await unmerge(one)).toStrictEqual({ licenseIds: [byAddress.id, chosen.id] })
  expect(await customer(two)).toStrictEqual({ licenseIds: [] })
})

test('a license that a merged customer gets later moves too, and back', async () => {
  const [one, two] = [await make('one@example.com'), await make('two@example.com')]
  await merge(one, two)
  const byAddress = await minted({ email: 'one@example.com', name: 'One' })
  const chosen = await minted({ customerId: one })
  await settle()
  expect((await customer(two)).licenseIds).toStrictEqual([chosen.id, byAddress.id])
  // Its address is that of the merged customer, to whom it does not go back.
  await ask('PATCH', `/v1/licenses/${byAddress.id}`, { name: 'One More' })
  expect(await customerOf(byAddress.id)).toBe(two)
  await unmerge(one)
  expect((await customer(one)).licenseIds).toStrictEqual([chosen.id, byAddress.id])
})

test('of two customers with one address, the one that stays gets what is new', async () => {
  const [one, two] = [await make('same@example.com'), await make('same@example.com')]
  await merge(one, two)
  expect(await minted({ email: 'same@example.com' })).toMatchObject({ customerId: two })
})

test('what a person decided meanwhile stays', async () => {
  const [one, two, three] = [await make('one@x.com'), await make('two@x.com'), await make('three@x.com')]
  const [unlinked, relinked, left] = [
    await minted({ customerId: one }),
    await minted({ customerId: one }),
    await minted({ customerId: one }),
  ]
  await merge(one, two)
  for (const { id: licenseId } of [unlinked, relinked])
    await asks(Customer, 'POST', `/v1/customers/${two}/unlink-license`, { licenseId })
  await asks(Customer, 'POST', `/v1/customers/${three}/link-license`, { licenseId: relinked.id })
  await unmerge(one)
  await settle()
  expect(await customerOf(unlinked.id)).toBeNull()
  expect(await customerOf(relinked.id)).toBe(three)
  expect(await customerOf(left.id)).toBe(one)
})

test('a past state lists the licenses that the customer had then, also those that have moved or were unlinked', async () => {
  const [one, two] = [await make('one@x.com'), await make('two@x.com')]
  const [moved, unlinked] = [await minted({ customerId: one }), await minted({ customerId: one })]
  const then = beginning
  api.ledger.clock.set('2031-01-01T00:00:00.000Z')
  await asks(Customer, 'POST', `/v1/customers/${one}/unlink-license`, { licenseId: unlinked.id })
  await merge(one, two)
  const past = async (id: string) =>
    (await asks(Customer, 'GET', `/v1/customers/${id}?asOf=${then}`)).customer.licenseIds
  expect(await past(one)).toStrictEqual([unlinked.id, moved.id])
  expect(await past(two)).toStrictEqual([])
  expect(await customer(two)).toStrictEqual({ licenseIds: [moved.id] })
})

test('refusals say what to do, and change nothing', async () => {
  const [one, two, three] = [await make('one@x.com'), await make('two@x.com'), await make('three@x.com')]
  const refused = async (id: string, into: string) => {
    const { status, body } = await ask('POST', `/v1/customers/${id}/merge`, { into })
    return [status, z.object({ error: z.string() }).parse(body).error]
  }
  expect(await refused(one, one)).toStrictEqual([422, 'into must name another customer'])
  const meters = [{ meter: 'calls', unit: 'call', included: '9', period: 'month', overage: 'block' }]
  await asks(Customer, 'PATCH', `/v1/customers/${three}`, { meters })
  expect(await refused(three, two)).toStrictEqual([409, expect.stringContaining('meters')])
  await merge(one, two)
  expect(await refused(one, three)).toStrictEqual([409, expect.stringContaining('merged into another')])
  expect(await refused(three, one)).toStrictEqual([409, expect.stringContaining('merged into another')])
  // A circle.
  expect(await refused(two, one)).toStrictEqual([409, expect.stringContaining('merged into another')])
  const other = await makeTenant(api.ledger)
  const foreign = await makeCustomer(api.ask, other.token, { email: 'far@example.com' })
  expect(await refused(two, foreign)).toStrictEqual([404, 'customer not found'])
  expect(await refused(foreign, two)).toStrictEqual([404, 'customer not found'])
  expect((await customer(two)).mergedInto).toBeUndefined()
})

test('erasing the customer that stays erases those that were merged into it, also by way of others', async () => {
  const [one, two, three] = [await make('one@x.com'), await make('two@x.com'), await make('three@x.com')]
  await merge(one, two)
  await merge(two, three)
  expect((await askApproveRepeat(api, tenant, 'DELETE', `/v1/customers/${three}`)).status).toBe(200)
  const Erased = z.object({ customer: z.object({ email: z.string().nullable() }) })
  for (const id of [one, two, three])
    expect((await asks(Erased, 'GET', `/v1/customers/${id}`)).customer.email).toBeNull()
})

/** Where each customer is merged into, and the customer that each license belongs to but for that. */
class Model {
  readonly into = new Map<number, number>()
  readonly own: (number | null)[] = []

  standIn(id: number): number {
    const into = this.into.get(id)
    return into === undefined ? id : this.standIn(into)
  }

  mayMerge(id: number, into: number): boolean {
    return id !== into && !this.into.has(id) && !this.into.has(into)
  }
}

const Step = fc.oneof(
  fc.record({ do: fc.constant('merge' as const), one: fc.nat(3), two: fc.nat(3) }),
  fc.record({ do: fc.constant('unmerge' as const), one: fc.nat(3) }),
  fc.record({ do: fc.constant('mint' as const), one: fc.nat(3) }),
  fc.record({ do: fc.constant('unlink' as const), one: fc.nat(5) }),
  fc.record({ do: fc.constant('settle' as const) }),
)

test('after any merges and what undid them, each license is with whom a model says', {
  timeout: 600_000,
}, async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(Step, { minLength: 8, maxLength: 14 }), async (steps) => {
      const customers = await Promise.all([1, 2, 3, 4].map((each) => make(`buyer${each}@example.com`)))
      const idOf = (index: number) => customers[index] ?? ''
      const model = new Model()
      const licenses: string[] = []
      for (const step of steps) {
        if (step.do === 'settle') await settle()
        else if (step.do === 'mint') {
          licenses.push((await minted({ customerId: idOf(step.one) })).id)
          model.own.push(step.one)
        } else if (step.do === 'merge') {
          const { one, two } = step
          const { status } = await ask('POST', `/v1/customers/${idOf(one)}/merge`, { into: idOf(two) })
          const isThere = model.into.get(one) === two && !model.into.has(two)
          expect(status < 300).toBe(model.mayMerge(one, two) || isThere)
          if (model.mayMerge(one, two)) model.into.set(one, two)
        } else if (step.do === 'unmerge') {
          await unmerge(idOf(step.one))
          model.into.delete(step.one)
        } else {
          const licenseId = licenses[step.one]
          const own = model.own[step.one]
          if (licenseId === undefined || own === undefined || own === null) continue
          await settle()
          const held = idOf(model.standIn(own))
          await asks(Customer, 'POST', `/v1/customers/${held}/unlink-license`, { licenseId })
          model.own[step.one] = null
        }
      }
      await settle()
      const found = await Promise.all(licenses.map(customerOf))
      expect(found).toStrictEqual(model.own.map((own) => (own === null ? null : idOf(model.standIn(own)))))
    }),
    { numRuns: 25 },
  )
})
