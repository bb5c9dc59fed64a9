/**
 * Guarantee: attempts without a free slot are looked up as soon as there is one, and only when the read models show
 * them. An attempt is published only when no delivery before it is pending, and then at once.
 */
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import type { DueAttempt } from '../../projections/deliveries/due.ts'
import { listDeliveries } from '../../projections/deliveries/queries.ts'
import { recordAttempt } from '../../src/commands/deliveries.ts'
import { scheduleDeliveries } from '../../src/reactions/deliveries.ts'
import { createPublisher } from '../../src/webhooks/publisher.ts'
import { makeTenant } from '../harness/api.ts'
import { pointWebhook, sellLicense } from '../harness/dispatch.ts'
import { beginning, commandLicense, openTestLedger, origin, type TestLedger } from '../harness/ledger.ts'
import { at, recordedEntry, scheduled } from './log-of-deliveries.ts'

let ledger: TestLedger
beforeAll(async () => {
  ledger = await openTestLedger()
})
afterAll(() => ledger.close())

test('the publisher waits until a delivery is visible before it looks it up for a freed slot', async () => {
  const published: DueAttempt[] = []
  const feed = {
    publish: async (jobs: readonly DueAttempt[]) => void published.push(...jobs),
    consume: async () => undefined,
  }
  const untilVisible = vi.fn(async (_position: bigint) => undefined)
  const asking = vi.spyOn(ledger.db, 'query')
  const failures: unknown[] = []
  const publisher = createPublisher(
    { ...ledger.ports, feed, untilVisible },
    ['webhook'],
    (error) => void failures.push(error),
  )
  const stopping = new AbortController()
  const running = publisher.run(stopping.signal)

  for (let n = 0; n < 32; n++) publisher.onEntry(scheduled(`whd_${n}`, BigInt(n)))
  await expect.poll(() => published).toHaveLength(32)
  // Half of them end, which the publisher has not noticed when another one is scheduled.
  for (let n = 0; n < 16; n++) {
    const position = BigInt(100 + n)
    publisher.onEntry(
      recordedEntry(`whd_${n}`, { type: 'DeliverySucceeded', data: { at } }, { revision: 2, position }),
    )
  }
  publisher.onEntry(scheduled('whd_more', 200n))
  const asked = () =>
    asking.mock.calls.findIndex((query) => JSON.stringify(query).includes('list-due-attempts-of'))
  await expect.poll(asked).not.toBe(-1)
  const shown = untilVisible.mock.calls.findIndex(([position]) => position === 200n)
  expect(shown).not.toBe(-1)
  expect(untilVisible.mock.invocationCallOrder[shown]).toBeLessThan(
    asking.mock.invocationCallOrder[asked()] ?? 0,
  )

  stopping.abort()
  await running
  expect(failures).toStrictEqual([])
})

test('only the first of a license is published, and the next one right when it has ended', async () => {
  const { ports } = ledger
  const { tenantId } = await makeTenant(ledger)
  await pointWebhook(ledger, tenantId, 'https://hooks.example.com')
  const { licenseId } = await sellLicense(ledger, tenantId)
  await commandLicense(ledger, licenseId, { type: 'RevokeLicense', reason: null, at: beginning })
  const published: DueAttempt[] = []
  const feed = {
    publish: async (jobs: readonly DueAttempt[]) =>
      void published.push(...jobs.filter((job) => job.tenantId === tenantId)),
    consume: async () => undefined,
  }
  const failures: unknown[] = []
  const publisher = createPublisher({ ...ports, feed }, ['webhook'], (error) => void failures.push(error))
  const stopping = new AbortController()
  const running = publisher.run(stopping.signal)
  const since = await ports.ledger.head()
  const follow = async () => {
    const { entries } = await ports.ledger.readPage(since, 1000)
    for (const entry of entries.slice(followed)) publisher.onEntry(entry)
    followed = entries.length
  }
  let followed = 0
  await scheduleDeliveries(ports, (error) => void failures.push(error)).poll()
  await follow()
  const { items } = await listDeliveries(
    ledger.db,
    tenantId,
    { channel: 'webhook' },
    { after: undefined, limit: 2 },
  )
  const [first, second] = items.toSorted((one, other) => one.licenseRevision - other.licenseRevision)
  const ids = () => published.map(({ deliveryId }) => deliveryId)
  await vi.waitFor(() => expect(ids()).toStrictEqual([first?.deliveryId]))
  if (!first) throw new Error('it is there')
  const result = { outcome: 'delivered', status: 200, excerpt: null } as const
  const made = { startedAt: beginning, durationMs: 1, result }
  await recordAttempt(ports, { delivery: first, revision: 0 }, made, origin)
  expect(ids()).toStrictEqual([first.deliveryId])
  await follow()
  await vi.waitFor(() => expect(ids()).toStrictEqual([first.deliveryId, second?.deliveryId]))
  stopping.abort()
  await running
  expect(failures).toStrictEqual([])
})
