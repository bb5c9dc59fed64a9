/**
 * Guarantee: whatever is changed in the file of the event store after it was hashed, the audit finds it, and names the first
 * event that differs, is missing, was added, or stands in another order.
 */
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { RawEvent } from '../../../src/ledger/raw/event.ts'
import { auditLog } from '../../../src/notary/audit/audit.ts'
import type { AuditReport } from '../../../src/notary/audit/found.ts'
import { placeName } from '../../../src/notary/audit/words.ts'
import { openTestLedger, type TestLedger } from '../../harness/ledger.ts'
import { notarizeAll, notaryKey } from '../notarized.ts'
import { copyToDirectory, makeHistory } from './history.ts'
import { type LogFile, openLogFile } from './log-file.ts'
import { randomOf } from './random.ts'
import { type Named, type Tampering, tamperings } from './tamper.ts'

const runs = Number(process.env.KEYLEDGER_TEST_TAMPERINGS ?? 8)
const seed = Number(process.env.KEYLEDGER_TEST_TAMPERING_SEED ?? 7)

let ledger: TestLedger
let directory: string
let file: LogFile
let history: RawEvent[]
beforeAll(async () => {
  ledger = await openTestLedger()
  await makeHistory(ledger, 700)
  await notarizeAll(ledger)
  directory = await copyToDirectory(ledger.eventStoreUrl)
  file = openLogFile(join(directory, 'events.sqlite'))
  history = file.events()
})
afterAll(async () => {
  file.close()
  rmSync(directory, { recursive: true, force: true })
  await ledger.close()
})

const audit = (): Promise<AuditReport> =>
  auditLog({ db: ledger.db, log: file.log, ledger: file.ledger, keys: [notaryKey] })

/** What the audit named. */
const namedIn = ({ problems }: AuditReport): Named[] =>
  problems.map(({ kind, index, event, before, was }) => ({
    kind,
    index,
    event: event && placeName(event),
    before: before && placeName(before),
    was: was && placeName(was),
  }))

test('a log that nobody changed has no problem', async () => {
  const report = await audit()
  expect(report).toStrictEqual({
    events: history.length,
    size: history.length,
    checkpoint: { size: history.length, signedAt: expect.any(String) as string },
    kept: [],
    verified: true,
    problems: [],
  })
})

describe('in the file of the event store', () => {
  test.each(tamperings.map((tampering) => [tampering.name, tampering] as const))(
    '%s: found, and named',
    async (_, tampering) => {
      const random = randomOf(seed)
      for (let run = 0; run < runs; run += 1) expect(await tamperOnce(tampering, random)).toBe(true)
    },
    runs * 1000 + 10_000,
  )
})

async function tamperOnce(tampering: Tampering, random: (below: number) => number): Promise<boolean> {
  file.database.exec('begin')
  try {
    let expected: Named | undefined
    // Not every event has a neighbour of that kind.
    while (!expected) expected = tampering.change(file.database, history, random)
    expect(namedIn(await audit())).toStrictEqual([expected])
    return true
  } finally {
    file.database.exec('rollback')
  }
}
