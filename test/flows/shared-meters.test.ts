// Guarantee: the licenses of a customer, on several servers that are killed, with lost answers and the same keys for different uses,
// never use more together than their customer shares, and each use counts once, for its own license.
import { expect, test } from 'vitest'
import { z } from 'zod'
import { amountOf, amountText, sumOf } from '../../src/domain/meters/amount.ts'
import { createHost } from '../harness/process.ts'
import { wholeVariable } from '../harness/variables.ts'
import { atOnce, consume, usesIn } from './counted-uses.ts'
import { startKilledServers } from './killed-servers.ts'
import { client, clientThat, createVendor, productId } from './vendor.ts'

const host = createHost()
/** `KEYLEDGER_TEST_USES=5000` for a long run. */
const uses = wholeVariable('KEYLEDGER_TEST_USES', 400)
const count = 5
/** Less than half of what is asked for. */
const included = amountText((BigInt(uses) * 1_000_000n) / 5n)

const Answer = z.object({ allowed: z.boolean() })
const Created = z.object({ customer: z.object({ id: z.string() }) })
const verification = z.object({ events: z.int(), rows: z.int(), differences: z.array(z.unknown()) })

test(`${count} licenses that share a meter race for it with ${uses} uses`, async () => {
  const stores = await host.stores()
  const token = await createVendor(stores.environment)
  const killed = await startKilledServers(host, stores.environment, token, 3)
  const vendor = client(killed.address, token)
  const product = { productId, name: 'API', keyTypes: [{ name: 'Pro' }] }
  expect((await vendor.send('POST', '/v1/products', product)).status).toBe(201)
  const licenses = await Promise.all(Array.from({ length: count }, () => vendor.mint()))
  const meters = [{ meter: 'calls', unit: 'calls', included, period: 'license', overage: 'block' }]
  const created = await vendor.send('POST', '/v1/customers', { email: 'team@example.com', meters })
  const { customer } = Created.parse(created.body)
  for (const { licenseId } of licenses)
    await vendor.send('POST', `/v1/customers/${customer.id}/link-license`, { licenseId })

  const insistent = clientThat(killed.insist)
  const allowed = new Map<string, bigint>()
  let refused = 0
  await killed.whileKilled(() =>
    atOnce(32, uses, async (index) => {
      const license = licenses[index % count]
      if (!license) throw new Error('no license')
      // Each license numbers its uses from 0.
      const key = `use-${Math.floor(index / count)}`
      const amount = BigInt(1 + ((index * 7919) % 1_000_000))
      const answer = await consume(insistent.send, license, { amount: amountText(amount), key })
      if (Answer.parse(answer).allowed) allowed.set(`${license.licenseId} ${key}`, amount)
      else refused++
    }),
  )

  expect(killed.lost()).toBeGreaterThan(uses / 20)
  // Otherwise the race proves less.
  expect(refused).toBeGreaterThan(0)
  const lines = await usesIn(stores, customer.id)
  const named = lines.map(({ key, licenseId }) => `${licenseId} ${key}`)
  expect(named.toSorted()).toStrictEqual([...allowed.keys()].toSorted())
  const used = sumOf(lines.map(({ amount }) => amountOf(amount)))
  expect(used).toBe(sumOf(allowed.values()))
  expect(used).toBeLessThanOrEqual(amountOf(included))
  for (const { licenseId } of licenses) expect(await usesIn(stores, licenseId)).toStrictEqual([])
  const { body } = await insistent.send('GET', `/v1/customers/${customer.id}/meters`)
  expect(body).toMatchObject({ meters: [{ used: amountText(used) }] })
  const found = await host.json(verification, ['projections', 'verify'], stores.environment)
  expect(found).toStrictEqual({ ...found, differences: [] })
})
