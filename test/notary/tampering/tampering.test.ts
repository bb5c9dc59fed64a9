/**
 * Guarantee: whatever is changed in the file of the event store after it was hashed, the audit finds it, and names the first
 * event that differs, is missing, was added, or stands in another order.
 */
import { cpSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import type { RawEvent } from '../../../src/ledger/raw/event.ts'
import { auditLog } from '../../../src/notary/audit/audit.ts'
import type { AuditProblem, AuditReport } from '../../../src/notary/audit/found.ts'
import { placeName } from '../../../src/notary/audit/words.ts'
import { formatVerifierKey } from '../../../src/transparency/note/verifier.ts'
import { openTestLedger, type TestLedger } from '../../harness/ledger.ts'
import { createHost, type Finished } from '../../harness/process.ts'
import { StoreProcess } from '../../infra/eventstore/store-process.ts'
import { notarizeAll } from '../notarized.ts'
import { notaryKey } from '../signer.ts'
import { copyToDirectory, makeHistory } from './history.ts'
import { type LogFile, openLogFile } from './log-file.ts'
import { randomOf } from './random.ts'
import { type Named, type Random, type Tampering, tamperings } from './tamper.ts'

const runs = Number(process.env.KEYLEDGER_TEST_TAMPERINGS ?? 8)
/** Then more go through the whole stack, too. */
const isLong = runs >= 100
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

async function tamperOnce(tampering: Tampering, random: Random): Promise<boolean> {
  file.database.exec('begin')
  try {
    let expected: Named | undefined
    // Not every event has a neighbor of that kind.
    while (!expected) expected = tampering.change(file.database, history, random)
    expect(namedIn(await audit())).toStrictEqual([expected])
    return true
  } finally {
    file.database.exec('rollback')
  }
}
