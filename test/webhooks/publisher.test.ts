/**
 * Guarantee: attempts without a free slot are looked up as soon as there is one, and only when the read models show
 * them.
 */
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import type { DueAttempt } from '../../projections/deliveries/due.ts'
import { createPublisher } from '../../src/webhooks/publisher.ts'
import { openTestLedger, type TestLedger } from '../harness/ledger.ts'
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
  const trouble: unknown[] = []
  const publisher = createPublisher(
    { ...ledger.services, feed, untilVisible },
    ['webhook'],
    (error) => void trouble.push(error),
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
  expect(trouble).toStrictEqual([])
})
