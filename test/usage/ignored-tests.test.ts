/** A tenant's newest 200 ignored tests are listed, for 30 days. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { listIgnoredTests, recordIgnoredTest } from '../../src/usage/ignored-tests.ts'
import { openTestLedger, type TestLedger } from '../harness/ledger.ts'

let ledger: TestLedger
beforeAll(async () => {
  ledger = await openTestLedger()
})
afterAll(() => ledger.close())

const begun = Date.parse('2026-03-01T12:00:00.000Z')
const note = (tenantId: string, number: number, minute = number) =>
  recordIgnoredTest(
    ledger.db,
    tenantId,
    {
      provider: 'polar',
      notificationId: `msg_${number}`,
      kind: 'sold',
      reason: 'nothing_mapped',
      detail: 'p1',
    },
    new Date(begun + minute * 60_000),
  )
const ids = async (tenantId: string, limit = 1000) => {
  const { items } = await listIgnoredTests(ledger.db, tenantId, { after: undefined, limit })
  return items.map(({ notificationId }) => notificationId)
}

test('the oldest of more than 200 are deleted, for this tenant only', async () => {
  await note('other', 0)
  for (let number = 0; number < 203; number++) await note('acme', number)
  const kept = await ids('acme')
  expect([kept.length, kept[0], kept.at(-1)]).toStrictEqual([200, 'msg_202', 'msg_3'])
  expect(await ids('other')).toStrictEqual(['msg_0'])
})

test('they are deleted after 30 days, and a repetition is counted', async () => {
  const days = (count: number) => count * 24 * 60
  await note('beta', 1, 0)
  await note('beta', 2, days(29))
  await note('beta', 2, days(30))
  expect(await ids('beta')).toStrictEqual(['msg_2', 'msg_1'])
  await note('beta', 3, days(30) + 1)
  const { items } = await listIgnoredTests(ledger.db, 'beta', { after: undefined, limit: 10 })
  expect(items).toMatchObject([
    { notificationId: 'msg_3', times: 1 },
    {
      notificationId: 'msg_2',
      times: 2,
      receivedAt: '2026-03-30T12:00:00.000Z',
      lastAt: '2026-03-31T12:00:00.000Z',
    },
  ])
})
