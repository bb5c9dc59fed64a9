// Guarantee: however many servers give and take named seats, remove people and are killed, no license has more people than seats, no
// person more devices than they may have, and no person who left has a seat or a valid device.
import { expect, test } from 'vitest'
import { z } from 'zod'
import { createHost } from '../harness/process.ts'
import { atOnce } from './counted-uses.ts'
import { startKilledServers } from './killed-servers.ts'
import { client, clientThat, createVendor, productId } from './vendor.ts'

const host = createHost()
const rounds = 6
const seats = 2
const people = ['bob', 'cleo', 'dan', 'eve']

const Customer = z.object({ customer: z.object({ id: z.string() }) })
const Added = z.object({ people: z.array(z.object({ id: z.string() })) })
const Assigned = z.object({ licenseKey: z.string() })
const Seated = z.object({ items: z.array(z.object({ id: z.string(), devices: z.array(z.string()) })) })
const License = z.object({
  license: z.object({ seatsUsed: z.int() }),
})
const verification = z.object({ events: z.int(), rows: z.int(), differences: z.array(z.unknown()) })

test(`${rounds} licenses whose ${seats} seats ${people.length} people race for, while some leave`, async () => {
  const stores = await host.stores()
  const token = await createVendor(stores.environment)
  const killed = await startKilledServers(host, stores.environment, token, 3)
  const vendor = client(killed.address, token)
  const insistent = clientThat(killed.insist)
  await vendor.createProduct(seats)
  const namedSeats = { devicesPerPerson: 1, reassignEveryDays: 0 }
  const keyType = { name: 'Team', deviceLimit: seats, seatPolicy: 'named', namedSeats }
  expect((await vendor.send('POST', `/v1/products/${productId}/key-types`, keyType)).status).toBe(201)
  const teams = await Promise.all(
    Array.from({ length: rounds }, async (_, round) => {
      const email = (name: string) => `${name}${round}@example.com`
      const { body } = await vendor.send('POST', '/v1/customers', { email: email('ada') })
      const customerId = Customer.parse(body).customer.id
      await vendor.send('POST', `/v1/customers/${customerId}/organization`)
      const added = await vendor.send('POST', `/v1/customers/${customerId}/people`, {
        people: people.map((name) => ({ email: email(name) })),
        invite: false,
      })
      const license = await vendor.mint({ keyTypeId: 'team', customerId })
      return { customerId, ids: Added.parse(added.body).people.map(({ id }) => id), license }
    }),
  )
  const keys = new Map<string, string>()
  await killed.whileKilled(() =>
    atOnce(3, rounds, async (round) => {
      const team = teams[round]
      if (!team) return
      const path = `/v1/licenses/${team.license.licenseId}/people`
      const given = await Promise.all(
        team.ids.map(async (personId) => ({
          personId,
          answer: await insistent.send('POST', path, { personId }),
        })),
      )
      const seated = given.filter(({ answer }) => answer.status === 200)
      expect(seated).toHaveLength(seats)
      expect(new Set(given.map(({ answer }) => answer.status))).toStrictEqual(new Set([200, 409]))
      for (const { personId, answer } of seated) keys.set(personId, Assigned.parse(answer.body).licenseKey)
      const activate = (personId: string, device: string) =>
        insistent.send('POST', '/v1/licenses/activate', {
          ...{ product_id: productId, license_key: keys.get(personId), device_id: device },
        })
      // One leaves while they activate devices, and another is given the seat that they had.
      const [leaver] = seated
      const waiting = given.find(({ answer }) => answer.status === 409)
      if (!leaver || !waiting) throw new Error('there is one of each')
      await Promise.all([
        insistent.send('DELETE', `/v1/customers/${team.customerId}/people/${leaver.personId}`),
        ...seated.flatMap(({ personId }) =>
          ['a', 'b'].map((device) => activate(personId, `${personId}-${device}`)),
        ),
        insistent.send('POST', path, { personId: waiting.personId }),
      ])
    }),
  )
  expect(killed.lost()).toBeGreaterThan(0)
  for (const { license, ids, customerId } of teams) {
    const path = `/v1/licenses/${license.licenseId}`
    const left = z
      .object({ items: z.array(z.object({ id: z.string() })) })
      .parse((await vendor.send('GET', `/v1/customers/${customerId}/people`)).body)
      .items.map(({ id }) => id)
    const gone = ids.filter((id) => !left.includes(id))
    expect(gone).toHaveLength(1)
    // What a server that was killed left is done by another one within seconds.
    await expect
      .poll(async () =>
        Seated.parse((await vendor.send('GET', `${path}/people`)).body).items.map(({ id }) => id),
      )
      .not.toContain(gone[0])
    const { items } = Seated.parse((await vendor.send('GET', `${path}/people`)).body)
    expect(items.length).toBeLessThanOrEqual(seats)
    expect(License.parse((await vendor.send('GET', path)).body).license.seatsUsed).toBe(items.length)
    for (const { devices } of items) expect(devices.length).toBeLessThanOrEqual(1)
    for (const personId of ids) {
      const key = keys.get(personId)
      if (key === undefined) continue
      const own = items.find(({ id }) => id === personId)?.devices ?? []
      for (const device of [`${personId}-a`, `${personId}-b`])
        expect((await vendor.validate(key, device)).body.valid).toBe(own.includes(device))
    }
  }
  const found = await host.json(verification, ['projections', 'verify'], stores.environment)
  expect(found).toStrictEqual({ ...found, differences: [] })
})
