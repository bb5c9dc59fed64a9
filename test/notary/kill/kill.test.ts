/**
 * Guarantee: killed at any write, the notary goes on, and whatever it has ever signed is consistent with everything else that it
 * has signed: never two roots for one size, never a smaller tree published after a larger one. So it is also when two notaries
 * race for the same tree, without the lock that keeps the second one away in a server.
 */
import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { z } from 'zod'
import { openRawLog, type RawLog } from '../../../src/ledger/raw/log.ts'
import { auditLog } from '../../../src/notary/audit/audit.ts'
import { readCheckpoint } from '../../../src/notary/checkpoints.ts'
import { tileReader } from '../../../src/notary/tree-store.ts'
import { type Checkpoint, parseCheckpoint } from '../../../src/transparency/checkpoint.ts'
import { parseNote } from '../../../src/transparency/note/note.ts'
import { verifyNote } from '../../../src/transparency/note/verifier.ts'
import { provesConsistency } from '../../../src/transparency/tree/proof.ts'
import { rangesOfConsistency } from '../../../src/transparency/tree/ranges.ts'
import { readHashes } from '../../../src/transparency/tree/tiles.ts'
import { openTestLedger, type TestLedger } from '../../harness/ledger.ts'
import { testMs } from '../../harness/time-limits.ts'
import { wholeVariable } from '../../harness/variables.ts'
import { notaryKey } from '../signer.ts'

/** `KEYLEDGER_TEST_NOTARY_KILLS=200` for the long run: rounds over all writes, and kills in the race. */
const kills = wholeVariable('KEYLEDGER_TEST_NOTARY_KILLS', 6)
const isLong = kills >= 50
const rounds = Math.max(1, Math.floor(kills / 50))

let ledger: TestLedger
let log: RawLog
const running = new Set<ChildProcessByStdio<null, Readable, null>>()
beforeAll(async () => {
  ledger = await openTestLedger()
  log = openRawLog(ledger.eventStoreUrl)
})
afterAll(async () => {
  for (const child of running) child.kill('SIGKILL')
  await log.close()
  await ledger.close()
})
beforeEach(async () => {
  published.length = 0
  await ledger.db.query(
    'delete from notary.tree; delete from notary.tiles; delete from notary.checkpoint; delete from notary.checkpoints',
  )
})

/** Every checkpoint that was signed, also by a process that was killed before it could store it. */
const published: Checkpoint[] = []

async function record(events: number): Promise<void> {
  const appends = await log.openAppends()
  for (let left = events; left > 0; left -= 1) {
    const [id, stream] = [randomUUID(), `license-${randomUUID()}`]
    const data = Buffer.from(JSON.stringify({ number: left }))
    const metadata = Buffer.from('{}')
    await appends.append([{ id, stream, revision: 0, type: 'Recorded', isJson: true, data, metadata }])
  }
  appends.close()
}

const Line = z.union([
  z.object({ note: z.string() }),
  z.object({ killedAt: z.int() }),
  z.object({ failed: z.string() }),
  z.object({ statements: z.int() }),
])

/** Starts a notary, which notes what it signs. `wasKilled` tells whether it reached the statement at which it kills itself. */
function startNotary(moment: 'never' | 'before' | 'sent' = 'never', statement = 0) {
  const program = fileURLToPath(new URL('notary-process.ts', import.meta.url))
  const words = [program, ledger.databaseUrl, ledger.eventStoreUrl, moment, String(statement)]
  const child = spawn(process.execPath, words, { stdio: ['ignore', 'pipe', 'inherit'] })
  running.add(child)
  let wasKilled = false
  const finished = (async () => {
    for await (const text of createInterface({ input: child.stdout })) {
      const line = Line.parse(JSON.parse(text))
      if ('killedAt' in line) wasKilled = true
      if (!('note' in line)) continue
      const note = parseNote(line.note)
      verifyNote(note, [notaryKey])
      published.push(parseCheckpoint(note.text))
    }
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
    running.delete(child)
    return wasKilled
  })()
  return { child, finished }
}

const sizeOf = async () => (await readCheckpoint(ledger.db))?.size ?? 0

async function lengthOfLog(): Promise<number> {
  let length = 0
  for await (const { events } of log.pages(undefined)) length += events.length
  return length
}

/** Waits until the checkpoint covers the log. */
async function untilCovered(): Promise<void> {
  const length = await lengthOfLog()
  while ((await sizeOf()) < length) await sleep(5)
}

/** Each pair of signed checkpoints is proved consistent from the tree as it is now. */
async function expectConsistent(): Promise<void> {
  const sizes = new Map<number, Checkpoint>()
  for (const checkpoint of published) {
    const same = sizes.get(checkpoint.size)
    if (same) expect(checkpoint.root).toStrictEqual(same.root)
    sizes.set(checkpoint.size, checkpoint)
  }
  const last = await sizeOf()
  const distinct = [...sizes.values()].filter(({ size }) => size <= last)
  expect(distinct).toHaveLength(sizes.size)
  for (const old of distinct)
    for (const tree of distinct.filter(({ size }) => size > old.size)) {
      const ranges = rangesOfConsistency(old.size, tree.size)
      const proof = await readHashes(ranges, tree.size, tileReader(ledger.db))
      expect(provesConsistency(old, tree, proof)).toBe(true)
    }
  const { db, ports } = ledger
  const { problems } = await auditLog({ db, log, ledger: ports.ledger, keys: [notaryKey] })
  expect(problems).toStrictEqual([])
}

test('killed before each of its statements, and before each answer', {
  timeout: testMs + kills * 20_000,
}, async () => {
  let killed = 0
  let largest = 0
  for (let round = 0; round < rounds; round += 1) {
    for (const moment of ['before', 'sent'] as const) {
      // In the short run, every second one of each moment.
      for (let statement = isLong || moment === 'before' ? 1 : 2; ; statement += isLong ? 1 : 2) {
        await record(3)
        const notary = startNotary(moment, statement)
        const covered = untilCovered()
        covered.catch(() => undefined)
        // With more statements than it needs, it comes to its end.
        await Promise.race([notary.finished, covered])
        notary.child.kill('SIGTERM')
        const wasKilled = await notary.finished
        const size = await sizeOf()
        expect(size).toBeGreaterThanOrEqual(largest)
        largest = size
        if (!wasKilled) break
        killed += 1
      }
    }
  }
  expect(killed).toBeGreaterThan(isLong ? 20 * rounds : 10)
  const last = startNotary()
  await untilCovered()
  last.child.kill('SIGTERM')
  await last.finished
  await expectConsistent()
  expect(published.length).toBeGreaterThan(killed / 4)
})

test(`two race for one tree, and one is killed ${String(kills)} times`, {
  timeout: testMs + kills * 20_000,
}, async () => {
  const [first, second] = [startNotary(), startNotary()]
  const racing = [first, second]
  for (let left = kills; left > 0; left -= 1) {
    const before = published.length
    await record(1 + Math.floor(Math.random() * 20))
    while (published.length === before) await sleep(2)
    await record(10)
    await sleep(Math.random() * 50)
    const [oldest] = racing.splice(0, 1)
    oldest?.child.kill('SIGKILL')
    await oldest?.finished
    racing.push(startNotary())
  }
  await untilCovered()
  for (const { child } of racing) child.kill('SIGTERM')
  await Promise.all(racing.map(({ finished }) => finished))
  expect(published.length).toBeGreaterThanOrEqual(kills)
  await expectConsistent()
})
