// Guarantee: administrators of an organization who remove each other at the same time, on several servers that are killed, always leave
// one, and people who are added at the same time are each in it once.
import { expect, test } from 'vitest'
import { z } from 'zod'
import { createHost } from '../harness/process.ts'
import { atOnce } from './counted-uses.ts'
import { startKilledServers } from './killed-servers.ts'
import { client, clientThat, createVendor } from './vendor.ts'

const host = createHost()
const rounds = 8
const names = ['ada', 'bob', 'cleo']

const Customer = z.object({ customer: z.object({ id: z.string() }) })
const People = z.object({ items: z.array(z.object({ id: z.string(), email: z.string(), role: z.string() })) })
const Added = z.object({ people: People.shape.items })
const verification = z.object({ events: z.int(), rows: z.int(), differences: z.array(z.unknown()) })

test(`${rounds} organizations whose administrators remove each other`, async () => {
  const stores = await host.stores()
  const token = await createVendor(stores.environment)
  const killed = await startKilledServers(host, stores.environment, token, 3)
  const vendor = client(killed.address, token)
  const insistent = clientThat(killed.insist)
  const teams = await Promise.all(
    Array.from({ length: rounds }, async (_, round) => {
      const { body } = await vendor.send('POST', '/v1/customers', { email: `ada${round}@example.com` })
      const { id } = Customer.parse(body).customer
      await vendor.send('POST', `/v1/customers/${id}/organization`)
      return { id, emails: names.map((name) => `${name}${round}@example.com`) }
    }),
  )
  const peopleOf = async (id: string) =>
    People.parse((await vendor.send('GET', `/v1/customers/${id}/people`)).body).items
  await killed.whileKilled(() =>
    atOnce(4, rounds, async (round) => {
      const team = teams[round]
      if (!team) return
      const people = team.emails.map((email) => ({ email, role: 'administrator' }))
      const path = `/v1/customers/${team.id}/people`
      // Each adds all of them, at the same time.
      const added = await Promise.all(
        names.map(() => insistent.send('POST', path, { people, invite: false })),
      )
      expect(added.map(({ status }) => status)).toStrictEqual(names.map(() => 200))
      const all = Added.parse(added[0]?.body).people
      const removed = await Promise.all(all.map(({ id }) => insistent.send('DELETE', `${path}/${id}`)))
      // One is refused as the last; a removal whose answer was lost is sent again, and finds nobody.
      for (const { status } of removed) expect([200, 404, 409]).toContain(status)
      expect(removed.map(({ status }) => status)).toContain(409)
    }),
  )
  expect(killed.lost()).toBeGreaterThan(0)
  for (const { id } of teams)
    expect((await peopleOf(id)).map(({ role }) => role)).toStrictEqual(['administrator'])
  const found = await host.json(verification, ['projections', 'verify'], stores.environment)
  expect(found).toStrictEqual({ ...found, differences: [] })
})
