/**
 * Guarantee: what the database or the notary's owner changes beside the event store is found, too: another log shown to one
 * reader, a checkpoint of another key, a proof for another size, a tree that was changed, or made anew and signed again.
 */
import { createHash, randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { RawEvent } from '../../../src/ledger/raw/event.ts'
import { auditLog } from '../../../src/notary/audit/audit.ts'
import type { AuditProblem } from '../../../src/notary/audit/findings.ts'
import { readCheckpoint, signCheckpoint } from '../../../src/notary/checkpoints.ts'
import { leafOf } from '../../../src/notary/leaves.ts'
import { addLeaves, openTree, readTree } from '../../../src/notary/tree-store.ts'
import { checkpointText } from '../../../src/transparency/checkpoint.ts'
import { privateKeyOf } from '../../../src/transparency/note/keys.ts'
import { formatNote } from '../../../src/transparency/note/note.ts'
import { signNote } from '../../../src/transparency/note/verifier.ts'
import { addLeaf, emptyEdge, type Hash, rootOf } from '../../../src/transparency/tree/edge.ts'
import { provesConsistency, provesInclusion } from '../../../src/transparency/tree/proof.ts'
import { rangesOfConsistency, rangesOfInclusion } from '../../../src/transparency/tree/ranges.ts'
import { openTestLedger, type TestLedger } from '../../harness/ledger.ts'
import { wholeVariable } from '../../harness/variables.ts'
import { createMemoryLog, type MemoryLog } from '../honest/memory-log.ts'
import { notaryKey, signer } from '../signer.ts'
import { type Counts, countsTable } from './counts.ts'
import { randomOf } from './random.ts'

const runs = wholeVariable('KEYLEDGER_TEST_TAMPERINGS', 8)
const random = randomOf(wholeVariable('KEYLEDGER_TEST_TAMPERING_SEED', 7, 0))
const length = 300

const rows: Counts[] = []

let ledger: TestLedger
let store: MemoryLog
let events: RawEvent[]
beforeAll(async () => {
  ledger = await openTestLedger()
  events = Array.from({ length }, (_, revision) => eventOf(revision))
  store = createMemoryLog(random, events)
  await makeTree(events)
  await sign()
})
afterAll(async () => {
  if (runs >= 100) process.stdout.write(`${countsTable(rows)}\n`)
  await ledger.close()
})

const eventOf = (number: number): RawEvent => ({
  id: randomUUID(),
  stream: `license-${String(number % 40)}`,
  revision: Math.floor(number / 40),
  position: BigInt(number),
  type: 'Recorded',
  isJson: true,
  data: Buffer.from(JSON.stringify({ number })),
  metadata: Buffer.from('{}'),
})

/** The same history with one event that says something else. */
const changedAt = (index: number): RawEvent[] =>
  events.map((event, at) => (at === index ? { ...event, data: Buffer.from('{"number":-1}') } : event))

const leavesOf = (history: readonly RawEvent[]): Hash[] => history.map((event) => leafOf(event).hash)

const rootAt = (leaves: readonly Hash[], size: number): Hash =>
  rootOf(leaves.slice(0, size).reduce((edge, leaf) => addLeaf(edge, leaf).edge, emptyEdge))

/** What the notary's owner signs, of any history. */
function signed(history: readonly RawEvent[], size: number, privateKey = signer.privateKeys[0]): string {
  if (!privateKey) throw new Error('there is no key')
  const text = checkpointText({ origin: signer.origin, size, root: rootAt(leavesOf(history), size) })
  return formatNote({ text, signatures: [signNote(signer.origin, privateKey, text)] })
}

async function makeTree(history: readonly RawEvent[]): Promise<void> {
  const client = await ledger.db.connect()
  try {
    await client.query('delete from notary.tree; delete from notary.tiles')
    const [first, ...rest] = history.map(leafOf)
    if (first) await addLeaves(client, await openTree(client, signer.origin), [first, ...rest])
  } finally {
    client.release()
  }
}

async function sign(): Promise<void> {
  await ledger.db.query('delete from notary.checkpoint; delete from notary.checkpoints')
  await signCheckpoint(ledger.db, signer, await readTree(ledger.db), new Date())
}

const audit = async (kept: readonly string[] = [], of: MemoryLog = store): Promise<AuditProblem[]> => {
  const options = { db: ledger.db, log: of.log, ledger: of.ledger, keys: [notaryKey] }
  const { problems } = await auditLog({
    ...options,
    kept: kept.map((note) => ({ name: 'kept.txt', note })),
  })
  return problems
}

const named = (problems: readonly AuditProblem[]) => problems.map(({ kind, index }) => ({ kind, index }))

/** Each check asserts what is found, so a row is only printed when all were. */
async function eachRun(check: () => Promise<void>): Promise<void> {
  for (let run = 0; run < runs; run += 1) await check()
  const what = expect.getState().currentTestName?.split(' > ').at(-1) ?? ''
  rows.push({ what, tampered: runs, found: runs, named: runs })
}

const timeout = 20_000 + runs * 200

test('nothing is found when nothing was changed', async () => {
  expect(await audit([signed(events, 1), signed(events, length)])).toStrictEqual([])
})

describe('found, and named', () => {
  test('a forked log shown to one reader: two trees of one size', { timeout }, () =>
    eachRun(async () => {
      const [problem, ...others] = await audit([signed(changedAt(random(length)), length)])
      expect(problem).toMatchObject({ kind: 'kept_checkpoint' })
      expect(problem?.says).toMatch(/^two trees of 300 events were signed/)
      expect(others).toStrictEqual([])
    }),
  )

  test('a forked log shown to one reader earlier', { timeout }, () =>
    eachRun(async () => {
      const size = 1 + random(length - 1)
      const [problem, ...others] = await audit([signed(changedAt(random(size)), size)])
      expect(problem?.says).toMatch(new RegExp(`^the first ${String(size)} events are not those of the kept`))
      expect(others).toStrictEqual([])
    }),
  )

  test('a checkpoint signed by a foreign key, in the database and kept', { timeout }, () =>
    eachRun(async () => {
      const foreign = privateKeyOf(createHash('sha256').update(randomUUID()).digest())
      const { note } = (await readCheckpoint(ledger.db)) ?? { note: '' }
      const update = (text: string) => ledger.db.query('update notary.checkpoint set note = $1', [text])
      await update(signed(events, length, foreign))
      const [problem, ...others] = await audit([signed(events, 1 + random(length), foreign)])
      await update(note)
      expect(problem).toMatchObject({ kind: 'foreign_key', says: 'the checkpoint is signed by another key' })
      expect(named(others)).toStrictEqual([{ kind: 'kept_checkpoint', index: null }])
    }),
  )

  test('a checkpoint with one byte changed', { timeout }, () =>
    eachRun(async () => {
      const { note } = (await readCheckpoint(ledger.db)) ?? { note: '' }
      const bytes = Buffer.from(note)
      const at = random(bytes.length)
      bytes[at] = (bytes[at] ?? 0) === 97 ? 98 : 97
      await ledger.db.query('update notary.checkpoint set note = $1', [bytes.toString()])
      const problems = await audit()
      await ledger.db.query('update notary.checkpoint set note = $1', [note])
      expect(problems).toHaveLength(1)
      expect(['checkpoint', 'foreign_key']).toContain(problems[0]?.kind)
    }),
  )

  test('a leaf of the tree in the database changed', { timeout }, () =>
    eachRun(async () => {
      const index = random(length)
      const [tile, byte] = [Math.floor(index / 256), (index % 256) * 32 + random(32)]
      const flip = () =>
        ledger.db.query(
          'update notary.tiles set hashes = set_byte(hashes, $2, get_byte(hashes, $2) # 64) where level = 0 and index = $1',
          [tile, byte],
        )
      await flip()
      const problems = await audit()
      await flip()
      expect(named(problems)).toStrictEqual([
        { kind: 'tree', index: null },
        { kind: 'tree', index },
      ])
    }),
  )

  test('an event changed, and the tree made anew: the signed root is another', { timeout }, () =>
    eachRun(async () => {
      const changed = changedAt(random(length))
      await makeTree(changed)
      expect(named(await audit([], createMemoryLog(random, changed)))).toStrictEqual([
        { kind: 'tree', index: null },
      ])
    }),
  )

  test('an event changed, the tree made anew and signed again: by a kept checkpoint alone', { timeout }, () =>
    eachRun(async () => {
      const index = random(length)
      const changed = changedAt(index)
      await makeTree(changed)
      await sign()
      const forged = createMemoryLog(random, changed)
      expect(await audit([], forged)).toStrictEqual([])
      const kept = [index, index + 1].filter((size) => size > 0).map((size) => signed(events, size))
      const problems = await audit(kept, forged)
      expect(problems.map(({ says }) => says.slice(0, 30))).toStrictEqual([
        index + 1 === length
          ? `two trees of ${String(length)} events were signed`.slice(0, 30)
          : `the first ${String(index + 1)} events are not those`.slice(0, 30),
      ])
    }),
  )

  test('a proof for another tree size', { timeout }, () => {
    const leaves = leavesOf(events)
    const hashOf = ({ start, end }: { start: number; end: number }) =>
      rootAt(leaves.slice(start), end - start)
    return eachRun(async () => {
      const size = 2 + random(length - 1)
      const index = random(size)
      const others = Array.from({ length: 8 }, () => 1 + random(length)).filter((one) => one !== size)
      const inclusion = rangesOfInclusion(index, size).map(hashOf)
      const leaf = leaves[index] ?? new Uint8Array()
      const tree = { size, root: rootAt(leaves, size) }
      expect(provesInclusion(leaf, index, tree, inclusion)).toBe(true)
      const old = 1 + random(size - 1)
      const before = { size: old, root: rootAt(leaves, old) }
      const consistency = rangesOfConsistency(old, size).map(hashOf)
      expect(provesConsistency(before, tree, consistency)).toBe(true)
      for (const wrong of others) {
        const other = { size: wrong, root: rootAt(leaves, wrong) }
        expect(provesInclusion(leaf, index, other, inclusion)).toBe(false)
        expect(provesConsistency(before, other, consistency)).toBe(wrong === old && consistency.length === 0)
      }
    })
  })
})
