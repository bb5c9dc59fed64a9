/**
 * Guarantee: whatever happens to an honest installation, the audit raises no false alarm, the notary goes on, and no two
 * checkpoints that were ever published contradict each other. Crashes of the notary, two notaries at once, a move to another
 * event store, a restored backup that goes on, and one that lacks signed events and becomes a new log.
 */
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { eventsOf } from '../../../src/ledger/raw/copy.ts'
import type { RawEvent } from '../../../src/ledger/raw/event.ts'
import { openRawLog } from '../../../src/ledger/raw/log.ts'
import { auditLog } from '../../../src/notary/audit/audit.ts'
import { readCheckpoint, type SignedCheckpoint } from '../../../src/notary/checkpoints.ts'
import { followLog } from '../../../src/notary/notary.ts'
import { publicKeyText } from '../../../src/notary/signing-log.ts'
import { NotarySuspended } from '../../../src/notary/suspension.ts'
import { privateKeyOf } from '../../../src/transparency/note/keys.ts'
import { parseVerifierKey } from '../../../src/transparency/note/verifier.ts'
import { openTestLedger, type TestLedger } from '../../harness/ledger.ts'
import { wholeVariable } from '../../harness/variables.ts'
import { makeHistory } from '../tampering/history.ts'
import { randomOf } from '../tampering/random.ts'
import type { Random } from '../tampering/tamper.ts'
import { createMemoryLog, type MemoryLog } from './memory-log.ts'

/** `KEYLEDGER_TEST_HISTORIES=1000` for the long run. */
const histories = wholeVariable('KEYLEDGER_TEST_HISTORIES', 25)
const seed = wholeVariable('KEYLEDGER_TEST_HISTORY_SEED', 1, 0)

let ledger: TestLedger
/** What commands of every kind have recorded, also erasures of persons. */
let recorded: RawEvent[]
beforeAll(async () => {
  ledger = await openTestLedger()
  await makeHistory(ledger, 600)
  const log = openRawLog(ledger.eventStoreUrl)
  recorded = []
  for await (const event of eventsOf(log, undefined)) recorded.push(event)
  await log.close()
})
afterAll(() => ledger.close())

const privateKey = privateKeyOf(Buffer.alloc(32, 5))

/** An installation at one moment. */
type World = {
  store: MemoryLog
  /** The first of the recorded events that its commands record. */
  first: number
  origin: string
  /** Every checkpoint that was published in the name of the origin. */
  published: SignedCheckpoint[]
}

class Crash extends Error {}

describe.each(Array.from({ length: Math.ceil(histories / 25) }, (_, at) => at * 25))(
  'from history %i on',
  (from) => {
    test('the audit is clean, and the notary goes on', async () => {
      for (let number = from; number < Math.min(from + 25, histories); number += 1) await live(seed + number)
    }, 300_000)
  },
)

async function live(number: number): Promise<void> {
  const random = randomOf(number)
  await ledger.db.query(
    'delete from notary.tree; delete from notary.tiles; delete from notary.checkpoint; delete from notary.checkpoints',
  )
  const world: World = {
    store: createMemoryLog(random),
    first: random(recorded.length - 300),
    origin: 'log.example/1',
    published: [],
  }
  runCommands(world, 1 + random(30))
  for (let moment = 0, moments = 3 + random(6); moment < moments; moment += 1) {
    await happens(world, random)
    runCommands(world, random(40))
  }
  await notarize(world, random)
  await expectClean(world)
  expect((await lastOf(world))?.size).toBe(world.store.length())
}

async function happens(world: World, random: Random): Promise<void> {
  switch (random(7)) {
    case 0:
      return notarize(world, random)
    case 1:
    case 2:
      return crash(world, random)
    case 3:
      // Two at once: one of them has to give way.
      return void (await Promise.allSettled([notarize(world, random), notarize(world, random)]))
    case 4:
      world.store = world.store.copy()
      return
    case 5:
      return restoreWhole(world, random)
    default:
      return restoreOld(world, random)
  }
}

/** Commands record what they record, with new ids; after a restore, in streams that end earlier. */
function runCommands({ store, first }: World, count: number): void {
  const from = first + store.length()
  for (const event of recorded.slice(from, from + count)) store.append({ ...event, id: randomUUID() })
}

/** The last checkpoint in the name of the world's log; that of an earlier log stands until the notary begins the new one. */
async function lastOf({ origin }: World): Promise<SignedCheckpoint | undefined> {
  // The first connection of the pool may be one that the test has ended.
  const last = await readCheckpoint(ledger.db).catch(() => readCheckpoint(ledger.db))
  return last?.note.startsWith(`${origin}\n`) ? last : undefined
}

const optionsOf = (world: World, random: Random) => ({
  db: ledger.db,
  log: world.store.log,
  ledger: world.store.ledger,
  signer: { origin: world.origin, privateKeys: [privateKey] },
  now: () => new Date(),
  pollMs: 1,
  checkpointMs: random(3),
  onCheckpoint: (checkpoint: SignedCheckpoint) => void world.published.push(checkpoint),
})

/** Runs the notary until its checkpoint covers the log; a notary that has lost a race starts again, as in the server. */
async function notarize(world: World, random: Random): Promise<void> {
  for (;;) {
    const stop = new AbortController()
    try {
      const running = followLog(optionsOf(world, random), stop.signal)
      running.catch(() => undefined)
      while ((await lastOf(world))?.size !== world.store.length())
        await Promise.race([running, new Promise((resolve) => setTimeout(resolve, 1))])
      stop.abort()
      await running
      return
    } catch (error) {
      stop.abort()
      if (error instanceof NotarySuspended || error instanceof Crash) throw error
    }
  }
}

/** The notary ends somewhere: while it reads, before it signs, after it has published, or with its connections. */
async function crash(world: World, random: Random): Promise<void> {
  let left = random(12)
  const countdown = () => {
    left -= 1
    if (left < 0) throw new Crash('killed')
  }
  const options = optionsOf(world, random)
  const { log, onCheckpoint } = options
  const point = random(4)
  if (point === 0)
    options.log = {
      ...log,
      async *pages(after) {
        for await (const page of log.pages(after)) {
          countdown()
          yield page
        }
      },
    }
  if (point === 1)
    options.now = () => {
      countdown()
      return new Date()
    }
  if (point === 2)
    options.onCheckpoint = (checkpoint) => {
      onCheckpoint(checkpoint)
      countdown()
    }
  const stop = new AbortController()
  const running = followLog(options, stop.signal).catch(() => undefined)
  await new Promise((resolve) => setTimeout(resolve, random(12)))
  if (point === 3)
    await ledger.db.query(
      `select pg_terminate_backend(pid) from pg_stat_activity
       where datname = current_database() and pid <> pg_backend_pid() and query like '%notary%'`,
    )
  stop.abort()
  await running
  const last = await lastOf(world)
  // The note was stored, and the process ended before it could say so.
  if (last && world.published.at(-1)?.size !== last.size) world.published.push(last)
}

/** A backup that has all signed events: the notary goes on as if nothing had happened. */
async function restoreWhole(world: World, random: Random): Promise<void> {
  await notarize(world, random)
  const backup = world.store.length()
  runCommands(world, random(20))
  world.store = world.store.restoredTo(backup)
}

/** A backup that lacks signed events: the notary refuses, the audit says so, and the operator starts another log. */
async function restoreOld(world: World, random: Random): Promise<void> {
  await notarize(world, random)
  const backup = random(world.store.length())
  world.store = world.store.restoredTo(backup)
  await expect(notarize(world, random)).rejects.toThrow(NotarySuspended)
  const { problems } = await audit(world)
  expect(problems[0]).toMatchObject({ kind: 'ends_early', index: backup })
  world.origin = `log.example/${randomUUID()}`
  world.published = []
  runCommands(world, 1 + random(10))
}

const audit = ({ store, origin, published }: World) =>
  auditLog({
    db: ledger.db,
    log: store.log,
    ledger: store.ledger,
    keys: [parseVerifierKey(publicKeyText(origin, privateKey))],
    kept: published.map(({ note }, at) => ({ name: `kept-${at}`, note })),
  })

async function expectClean(world: World): Promise<void> {
  const report = await audit(world)
  expect(report.problems).toStrictEqual([])
  expect(report.kept).toHaveLength(world.published.length)
}
