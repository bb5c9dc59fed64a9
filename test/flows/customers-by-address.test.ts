// Guarantee: mints and imports with the same addresses, at the same time on several servers that are killed, with lost answers, make
// one customer for each address, to whom every license belongs.
import { expect, test } from 'vitest'
import { z } from 'zod'
import { createHost } from '../harness/process.ts'
import { atOnce } from './counted-uses.ts'
import { startKilledServers } from './killed-servers.ts'
import { client, clientThat, createVendor, productId } from './vendor.ts'

const host = createHost()
const count = 120
const addresses = Array.from({ length: 6 }, (_, index) => `buyer${index}@example.com`)

const Licenses = z.object({
  items: z.array(z.object({ email: z.string().nullable(), customerId: z.string().nullable() })),
})
const Customers = z.object({
  items: z.array(z.object({ id: z.string(), email: z.string(), licenseIds: z.array(z.string()) })),
})
const verification = z.object({ events: z.int(), rows: z.int(), differences: z.array(z.unknown()) })

test(`${count} licenses for ${addresses.length} addresses`, async () => {
  const stores = await host.stores()
  const token = await createVendor(stores.environment)
  const killed = await startKilledServers(host, stores.environment, token, 3)
  const vendor = client(killed.address, token)
  await vendor.createProduct(1)
  const insistent = clientThat(killed.insist)
  await killed.whileKilled(() =>
    atOnce(16, count, async (index) => {
      const email = addresses[index % addresses.length] ?? ''
      // A repeated import imports nothing twice.
      if (index % 2 === 0) {
        const licenses = [{ licenseKey: `OLD-KEY-OF-${index}`, email }]
        const { status } = await insistent.send('POST', '/v1/licenses/import', { productId, licenses })
        expect(status).toBe(200)
      } else await insistent.mint({ email })
    }),
  )
  expect(killed.lost()).toBeGreaterThan(0)

  const customers = Customers.parse((await vendor.send('GET', '/v1/customers?limit=100')).body).items
  expect(customers.map(({ email }) => email).toSorted()).toStrictEqual(addresses)
  const idOf = new Map(customers.map(({ id, email }) => [email, id]))
  const licenses = Licenses.parse((await vendor.send('GET', '/v1/licenses?limit=100')).body).items
  // A mint whose answer was lost is sent again, and mints another one.
  expect(licenses.length).toBe(100)
  for (const { email, customerId } of licenses) expect(customerId).toBe(idOf.get(email ?? ''))
  expect(customers.flatMap(({ licenseIds }) => licenseIds).length).toBeGreaterThanOrEqual(count)
  const found = await host.json(verification, ['projections', 'verify'], stores.environment)
  expect(found).toStrictEqual({ ...found, differences: [] })
})
