/**
 * Guarantee: whatever is changed in the file of the event store after it was hashed, the audit finds it, and names the first
 * event that differs, is missing, was added, or stands in another order.
 */
import { cpSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { isDeepStrictEqual } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import type { RawEvent } from '../../../src/ledger/raw/event.ts'
import { auditLog } from '../../../src/notary/audit/audit.ts'
import type { AuditProblem, AuditReport } from '../../../src/notary/audit/findings.ts'
import { placeName } from '../../../src/notary/audit/sentences.ts'
import { formatVerifierKey } from '../../../src/transparency/note/verifier.ts'
import { openTestLedger, type TestLedger } from '../../harness/ledger.ts'
import { createHost, type Finished } from '../../harness/process.ts'
import { wholeVariable } from '../../harness/variables.ts'
import { StoreProcess } from '../../infra/eventstore/store-process.ts'
import { notarizeAll } from '../notarized.ts'
import { notaryKey } from '../signer.ts'
import { type Counts, countsTable } from './counts.ts'
import { copyToDirectory, makeHistory } from './history.ts'
import { type LogFile, openLogFile } from './log-file.ts'
import { randomOf } from './random.ts'
import { type Named, type Random, type Tampering, tamperings } from './tamper.ts'

const runs = wholeVariable('KEYLEDGER_TEST_TAMPERINGS', 8)
/** Then more go through the whole stack, too, and a table is printed. */
const isLong = runs >= 100
const seed = wholeVariable('KEYLEDGER_TEST_TAMPERING_SEED', 7, 0)

const rows: Counts[] = []

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
  if (isLong) process.stdout.write(`${countsTable(rows)}\n`)
  file.close()
  rmSync(directory, { recursive: true, force: true })
  await ledger.close()
})

const audit = (): Promise<AuditReport> =>
  auditLog({ db: ledger.db, log: file.log, ledger: file.ledger, keys: [notaryKey] })

type Found = Pick<AuditProblem, 'index' | 'event' | 'before' | 'was'> & { kind: string }

/** What the audit named. */
const namedIn = ({ problems }: { problems: readonly Found[] }): Named[] =>
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

test('every event has an id of its own, of 122 random bits, which hides the rest of its leaf', () => {
  const ids = history.map(({ id }) => id)
  const version4 = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/
  expect(ids.filter((id) => !version4.test(id))).toStrictEqual([])
  expect(new Set(ids).size).toBe(history.length)
})

describe('in the file of the event store', () => {
  test.each(tamperings.map((tampering) => [tampering.name, tampering] as const))(
    '%s: found, and named',
    async (_, tampering) => {
      const random = randomOf(seed)
      const row: Counts = { what: tampering.name, tampered: 0, found: 0, named: 0 }
      rows.push(row)
      const wrong: unknown[] = []
      for (; row.tampered < runs; row.tampered += 1) {
        const { expected, named } = await tamperOnce(tampering, random)
        if (named.length > 0) row.found += 1
        if (isDeepStrictEqual(named, [expected])) row.named += 1
        else wrong.push({ expected, named })
      }
      expect(wrong).toStrictEqual([])
      expect(row).toStrictEqual({ ...row, found: runs, named: runs })
    },
    runs * 1000 + 10_000,
  )
})

const host = createHost()

describe('with the store started again on the changed file', () => {
  test('keyledger audit verify finds it, names it, and ends with exit code 1', async () => {
    const random = randomOf(seed + 1)
    const kinds = isLong
      ? [...tamperings, ...tamperings, ...tamperings]
      : tamperings.filter((_, at) => at % 4 === 0)
    for (const tampering of kinds) {
      const copy = host.path('tampered')
      cpSync(directory, copy, { recursive: true })
      const expected = tamperFile(join(copy, 'events.sqlite'), tampering, random)
      // The store compares its end with this file, which an attacker removes.
      rmSync(join(copy, 'acknowledged'), { force: true })
      const { code, stdout } = await verifiedBy(copy)
      const report = Printed.parse(JSON.parse(stdout))
      expect({ code, named: namedIn(report) }).toStrictEqual({ code: 1, named: [expected] })
    }
  }, 600_000)

  test('and nothing when nobody changed it', async () => {
    const copy = host.path('honest')
    cpSync(directory, copy, { recursive: true })
    const { code, stdout } = await verifiedBy(copy)
    expect(Printed.parse(JSON.parse(stdout)).problems).toStrictEqual([])
    expect(code).toBe(0)
  })
})

const Place = z.strictObject({ stream: z.string(), revision: z.int(), id: z.string() })
const Printed = z.looseObject({
  problems: z.array(
    z.looseObject({
      kind: z.string(),
      index: z.int().nullable(),
      event: Place.nullable(),
      before: Place.nullable(),
      was: Place.omit({ id: true }).nullable(),
    }),
  ),
})

/** Runs the command on the event store of a directory, in processes of their own. */
async function verifiedBy(copy: string): Promise<Finished> {
  const store = new StoreProcess('--directory', copy, '--port', '0')
  try {
    const { url } = await store.ready()
    const environment = {
      KEYLEDGER_DATA_DIR: host.path('unused'),
      KEYLEDGER_DATABASE_URL: ledger.databaseUrl,
      KEYLEDGER_EVENTSTORE_URL: url,
    }
    return await host.run(['audit', 'verify', '--json', '--key', formatVerifierKey(notaryKey)], environment)
  } finally {
    await store.end('SIGTERM')
  }
}

function tamperFile(path: string, tampering: Tampering, random: Random): Named {
  const database = new DatabaseSync(path)
  try {
    let expected: Named | undefined
    while (!expected) expected = tampering.change(database, history, random)
    return expected
  } finally {
    database.close()
  }
}

async function tamperOnce(
  tampering: Tampering,
  random: Random,
): Promise<{ expected: Named; named: Named[] }> {
  file.database.exec('begin')
  try {
    let expected: Named | undefined
    // Not every event has a neighbor of that kind.
    while (!expected) expected = tampering.change(file.database, history, random)
    return { expected, named: namedIn(await audit()) }
  } finally {
    file.database.exec('rollback')
  }
}
