/** Guarantee: applying events that a read model already contains changes nothing. */
import type { ClientBase } from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { batchStatements } from '../../projections/database/statement-batch.ts'
import type { Projector } from '../../projections/projector.ts'
import { projectors } from '../../projections/projectors.ts'
import { withScratchSchema } from '../../projections/runner/replay.ts'
import { runAll } from '../../projections/statements.ts'
import type { LogEntry, Recorded } from '../../src/domain/recorded.ts'
import { openTestLedger, type TestLedger } from '../harness/ledger.ts'
import { startScenario } from './scenario.ts'
import { everyStep } from './steps.ts'
import { dumpTables } from './tables.ts'

let ledger: TestLedger
let recorded: Recorded[]
beforeAll(async () => {
  ledger = await openTestLedger()
  for (let times = 0; times < 2; times++) {
    const scenario = await startScenario(ledger)
    for (const step of everyStep) await scenario.run(step)
  }
  const { entries } = await ledger.ports.ledger.readPage(undefined, 10_000)
  recorded = entries.filter((entry: LogEntry) => entry.readable)
})
afterAll(() => ledger.close())

function applying(client: ClientBase, projector: Projector) {
  const db = batchStatements(client)
  return async (entries: readonly Recorded[]) => runAll(db, await projector.apply(db, entries))
}

test.each(projectors)(
  'the projector of $name changes nothing when it applies the same events twice',
  async (projector) => {
    await withScratchSchema(
      ledger.db,
      { schema: `twice_${projector.name}`, lock: 4711, kept: false },
      async (client) => {
        const apply = applying(client, projector)
        await apply(recorded)
        const once = await dumpTables(client)
        expect(projector.tables.filter(({ name }) => once[name]?.length === 0)).toStrictEqual([])
        await apply(recorded)
        expect(await dumpTables(client)).toStrictEqual(once)
        for (const entry of recorded) await apply([entry])
        expect(await dumpTables(client)).toStrictEqual(once)
        await client.query(`drop schema twice_${projector.name} cascade`)
      },
    )
  },
)

test.each([1, 2, 3, 7, 50])('events applied %i at a time give the same rows as all at once', async (size) => {
  const schema = `paged_${size}`
  await withScratchSchema(ledger.db, { schema, lock: 4712, kept: false }, async (client) => {
    for (let at = 0; at < recorded.length; at += size) {
      for (const projector of projectors) await applying(client, projector)(recorded.slice(at, at + size))
    }
    expect(await dumpTables(client)).toStrictEqual(await dumpTables(ledger.db))
    await client.query(`drop schema ${schema} cascade`)
  })
})
