/**
 * A freeze holds once no append is in flight in any process and none can start, also when a process hangs, has
 * lost its connection, or was killed.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Pool } from 'pg'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { isDatabaseFailure } from '../../projections/database/errors.ts'
import { createPool } from '../../projections/database/pool.ts'
import { createSharedLocks } from '../../projections/database/shared-locks.ts'
import { type AppendGate, createAppendGate } from '../../src/freeze/append-gate.ts'
import { freezeLedger, readFreeze, unfreezeLedger } from '../../src/freeze/freeze.ts'
import { LedgerFrozen } from '../../src/ledger/connection/unavailable.ts'
import { createLedgerDatabase } from '../harness/database.ts'

let database: Awaited<ReturnType<typeof createLedgerDatabase>>
let db: Pool
let gates: AppendGate[] = []
beforeAll(async () => {
  database = await createLedgerDatabase()
  db = createPool(database.url)
})
afterEach(async () => {
  await Promise.all(gates.map((gate) => gate.stop()))
  gates = []
  await unfreezeLedger(db)
  await db.query('delete from operations.appenders')
})
afterAll(async () => {
  await db.end()
  await database.drop()
})

/** The connections of one process. */
function gateOfAProcess(): AppendGate {
  const gate = createAppendGate(db)
  gates.push(gate)
  return gate
}

type Freezing = { timeLimitMs?: number; lostAppendMs?: number; onWait?: (ms: number) => void }
async function freeze({ timeLimitMs = 10_000, lostAppendMs = 1, onWait = () => undefined }: Freezing = {}) {
  const locks = createSharedLocks(db, { timeLimitMs })
  const asked = { actor: 'operator:test', reason: 'a move' }
  return freezeLedger(db, locks, asked, onWait, lostAppendMs)
}

test('a freeze waits for running appends, and later ones are refused', async () => {
  const [one, other] = [gateOfAProcess(), gateOfAProcess()]
  const ended = [await one.enter(), await one.enter(), await other.enter()]
  let frozen = false
  const freezing = freeze().then((made) => {
    frozen = true
    return made
  })
  // Processes that know of the freeze refuse appends before it holds.
  await expect.poll(() => one.enter().then((leave) => leave(), String)).toContain('LedgerFrozen')
  expect((await readFreeze(db))?.holdsSince).toBeNull()
  for (const end of ended) {
    expect(frozen).toBe(false)
    end()
  }
  expect(await freezing).toMatchObject({
    actor: 'operator:test',
    reason: 'a move',
    holdsSince: expect.any(String) as string,
  })
  for (const gate of [one, other, gateOfAProcess()]) await expect(gate.enter()).rejects.toThrow(LedgerFrozen)

  expect(await unfreezeLedger(db)).toBe(true)
  for (const gate of [one, other, gateOfAProcess()]) (await gate.enter())()
})

test('with appends and freezes at random times, no append is in flight while the ledger is frozen', async () => {
  const processes = [gateOfAProcess(), gateOfAProcess(), gateOfAProcess()]
  let underWay = 0
  let isFrozen = false
  const met: number[] = []
  const counts = { passed: 0, refused: 0 }
  const stopping = new AbortController()
  const appending = processes.flatMap((gate) =>
    [1, 2, 3].map(async () => {
      while (!stopping.signal.aborted) {
        const leave = await gate.enter().catch((error: unknown) => {
          if (!(error instanceof LedgerFrozen)) throw error
        })
        if (leave) {
          underWay++
          counts.passed++
          if (isFrozen) met.push(underWay)
          await sleep(Math.random() * 4)
          underWay--
          leave()
        } else counts.refused++
        await sleep(Math.random() * 4)
      }
    }),
  )
  for (let times = 0; times < 15; times++) {
    const { passed } = counts
    while (counts.passed < passed + 5) await sleep(1)
    await freeze()
    isFrozen = true
    if (underWay > 0) met.push(underWay)
    await sleep(Math.random() * 10)
    isFrozen = false
    await unfreezeLedger(db)
  }
  stopping.abort()
  await Promise.all(appending)
  expect(met).toStrictEqual([])
  expect(counts.refused).toBeGreaterThan(0)
})

test('a hanging append makes the freeze fail, and the ledger stays as before', async () => {
  const [hanging, going] = [gateOfAProcess(), gateOfAProcess()]
  const leave = await hanging.enter()
  const failed: unknown = await freeze({ timeLimitMs: 200 }).catch((error: unknown) => error)
  expect(isDatabaseFailure(failed)).toBe(true)
  expect(await readFreeze(db)).toBeUndefined()
  ;(await going.enter())()
  leave()
  await freeze()
})

test('a freeze waits once for the appends of a process that lost its connection', async () => {
  const waits: number[] = []
  const lost = gateOfAProcess()
  await lost.enter()
  await db.query(`select pg_terminate_backend(pid, 5000) from operations.appenders`)
  await freeze({ lostAppendMs: 30, onWait: (ms) => waits.push(ms) })
  await freeze({ lostAppendMs: 30, onWait: (ms) => waits.push(ms) })
  expect(waits).toStrictEqual([30])
  await expect(lost.enter()).rejects.toThrow(LedgerFrozen)
})

test('workers wait while the ledger is frozen', async () => {
  const gate = gateOfAProcess()
  const { signal } = new AbortController()
  await gate.untilOpen(signal)
  await freeze()
  const stopping = new AbortController()
  let waited = true
  const waiting = gate.untilOpen(stopping.signal).then(() => {
    waited = stopping.signal.aborted
  })
  stopping.abort()
  await waiting
  expect(waited).toBe(true)
  await unfreezeLedger(db)
  await gate.untilOpen(signal)
})
