// Guarantee: customers that are merged into each other at the same time, on several servers that are killed, never form a circle, and
// every license ends up with the customer that stands for its own, also those that are minted meanwhile.
import { expect, test } from 'vitest'
import { z } from 'zod'
import { createHost } from '../harness/process.ts'
import { atOnce } from './counted-uses.ts'
import { startKilledServers } from './killed-servers.ts'
import { client, clientThat, createVendor } from './vendor.ts'

const host = createHost()
const rounds = 12

const Customers = z.object({
  items: z.array(
    z.object({ id: z.string(), licenseIds: z.array(z.string()), mergedInto: z.string().optional() }),
  ),
})
const Customer = z.object({ customer: z.object({ id: z.string() }) })
const verification = z.object({ events: z.int(), rows: z.int(), differences: z.array(z.unknown()) })

test(`${rounds} rings of three customers`, async () => {
  const stores = await host.stores()
  const token = await createVendor(stores.environment)
  const killed = await startKilledServers(host, stores.environment, token, 3)
  const vendor = client(killed.address, token)
  await vendor.createProduct(1)
  const insistent = clientThat(killed.insist)
  const rings: string[][] = []
  for (let round = 0; round < rounds; round++) {
    const ring = ['a', 'b', 'c'].map(async (name) => {
      const { body } = await vendor.send('POST', '/v1/customers', { email: `${name}${round}@example.com` })
      return Customer.parse(body).customer.id
    })
    rings.push(await Promise.all(ring))
  }
  await killed.whileKilled(() =>
    atOnce(6, rounds, async (round) => {
      const ring = rings[round] ?? []
      const statuses = await Promise.all(
        ring.map(async (id, index) => {
          await insistent.mint({ customerId: id })
          const into = ring[(index + 1) % ring.length]
          const { status } = await insistent.send('POST', `/v1/customers/${id}/merge`, { into })
          await insistent.mint({ email: `${'abc'[index]}${round}@example.com` })
          return status
        }),
      )
      for (const status of statuses) expect([200, 409]).toContain(status)
      expect(statuses).toContain(200)
    }),
  )
  expect(killed.lost()).toBeGreaterThan(0)

  const read = async () =>
    new Map(
      Customers.parse((await vendor.send('GET', '/v1/customers?limit=100')).body).items.map((customer) => [
        customer.id,
        customer,
      ]),
    )
  await expect
    .poll(async () => {
      const customers = await read()
      return [...customers.values()].filter(
        (one) => one.mergedInto !== undefined && one.licenseIds.length > 0,
      )
    })
    .toStrictEqual([])
  const customers = await read()
  for (const ring of rings) {
    const standing = ring.filter((id) => customers.get(id)?.mergedInto === undefined)
    expect(standing.length).toBeGreaterThanOrEqual(1)
    expect(standing.length).toBeLessThan(ring.length)
    const licenses = ring.flatMap((id) => customers.get(id)?.licenseIds ?? [])
    // A mint whose answer was lost is sent again, and mints another one.
    expect(licenses.length).toBeGreaterThanOrEqual(6)
  }
  const found = await host.json(verification, ['projections', 'verify'], stores.environment)
  expect(found).toStrictEqual({ ...found, differences: [] })
})
