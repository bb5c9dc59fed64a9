// Guarantee: a reseller never has more licenses than their quota, minted at the same time on several servers that are killed, with lost
// answers; each request that is repeated until it is answered has one license or none, and no count is left without a license.
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { createHost } from '../harness/process.ts'
import { atOnce } from './counted-uses.ts'
import { startKilledServers } from './killed-servers.ts'
import { client, createResellerToken, createVendor, productId } from './vendor.ts'

const host = createHost()
const quota = 24
const asked = 40

const Minted = z.object({ license: z.object({ id: z.string() }) })
const Licenses = z.object({ items: z.array(z.object({ id: z.string() })) })
const Reseller = z.object({
  reseller: z.object({ id: z.string(), quotas: z.tuple([z.object({ used: z.int() })]) }),
})
const verification = z.object({ events: z.int(), rows: z.int(), differences: z.array(z.unknown()) })

test(`${asked} mints in a quota of ${quota}`, async () => {
  const stores = await host.stores()
  const token = await createVendor(stores.environment)
  const killed = await startKilledServers(host, stores.environment, token, 3)
  const vendor = client(killed.address, token)
  await vendor.createProduct(1)
  const body = { name: 'Northwind', quotas: [{ productId, keyTypeId: 'pro', licenses: quota }] }
  const { id } = Reseller.parse((await vendor.send('POST', '/v1/resellers', body)).body).reseller
  const own = { authorization: `Bearer ${await createResellerToken(stores.environment, id)}` }
  const minted = new Set<string>()
  let refused = 0
  await killed.whileKilled(() =>
    atOnce(12, asked, async (index) => {
      const headers = { ...own, 'idempotency-key': `mint-${index}` }
      const input = { productId, email: `buyer${index % 5}@example.com` }
      for (;;) {
        const answer = await killed.insist('POST', '/v1/licenses', input, headers)
        if (answer.status === 201) minted.add(Minted.parse(answer.body).license.id)
        else if (String(answer.body.error).includes('still running')) {
          await sleep(500)
          continue
        } else {
          expect(answer).toMatchObject({
            status: 409,
            body: { error: expect.stringContaining('quota') as string },
          })
          refused++
        }
        return
      }
    }),
  )
  expect(killed.lost()).toBeGreaterThan(0)
  expect({ minted: minted.size, refused }).toStrictEqual({ minted: quota, refused: asked - quota })

  const { items } = Licenses.parse((await vendor.send('GET', '/v1/licenses?limit=100')).body)
  expect(new Set(items.map((license) => license.id))).toStrictEqual(minted)
  const { reseller } = Reseller.parse((await vendor.send('GET', `/v1/resellers/${id}`)).body)
  expect(reseller.quotas[0].used).toBe(quota)
  const found = await host.json(verification, ['projections', 'verify'], stores.environment)
  expect(found).toStrictEqual({ ...found, differences: [] })
})
