/**
 * Guarantee: every event of the ledger is a leaf, once and in log order; a signed checkpoint never contradicts another; and
 * each event has a receipt that anyone can check.
 */
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { eventsOf } from '../../src/ledger/raw/copy.ts'
import { openRawLog, type RawLog } from '../../src/ledger/raw/log.ts'
import { readCheckpoint, signCheckpoint } from '../../src/notary/checkpoints.ts'
import { leafOf, recordOf } from '../../src/notary/leaves.ts'
import { followLog, type NotaryOptions } from '../../src/notary/notary.ts'
import { makeReceipt } from '../../src/notary/receipt.ts'
import { publicKeyText } from '../../src/notary/signing-log.ts'
import { addLeaves, openTree, readTree, tileReader } from '../../src/notary/tree-store.ts'
import { parseCheckpoint } from '../../src/transparency/checkpoint.ts'
import { entryOf } from '../../src/transparency/entry.ts'
import { privateKeyOf } from '../../src/transparency/note/keys.ts'
import { parseNote } from '../../src/transparency/note/note.ts'
import { parseVerifierKey, verifyNote } from '../../src/transparency/note/verifier.ts'
import { parseProof } from '../../src/transparency/proof-file.ts'
import { leafHash, rootOf } from '../../src/transparency/tree/edge.ts'
import { provesConsistency, provesInclusion } from '../../src/transparency/tree/proof.ts'
import { rangesOfConsistency } from '../../src/transparency/tree/ranges.ts'
import { readHashes } from '../../src/transparency/tree/tiles.ts'
import { readRecord } from '../../src/verifier/record.ts'
import { makeTenant, openTestApi, type TestApi } from '../harness/api.ts'
import { makeProduct } from '../http/samples.ts'
import { treeHash } from '../transparency/reference.ts'

let api: TestApi
let log: RawLog
let token: string
beforeAll(async () => {
  api = await openTestApi()
  log = openRawLog(api.ledger.eventStoreUrl)
  ;({ token } = await makeTenant(api.ledger))
  await makeProduct(api.ask, token, 'editor')
})
afterAll(async () => {
  await log.close()
  await api.close()
})

const origin = 'licenses.example/ledger'
const privateKey = privateKeyOf(Buffer.alloc(32, 5))
const signer = { origin, privateKeys: [privateKey] }
const key = parseVerifierKey(publicKeyText(origin, privateKey))
const options = (): NotaryOptions => ({
  db: api.ledger.db,
  log,
  ledger: api.ledger.ports.ledger,
  signer,
  now: () => new Date(),
  pollMs: 10,
})

async function mint(count: number): Promise<string[]> {
  const ids: string[] = []
  for (let left = count; left > 0; left -= 1) {
    const { body } = await api.ask('POST', '/v1/licenses', { token, body: { productId: 'editor' } })
    ids.push((body as { license: { id: string } }).license.id)
  }
  return ids
}

async function ownEvents() {
  const events = []
  for await (const event of eventsOf(log, undefined)) events.push(event)
  return events
}

/** Runs the notary until its checkpoint covers all events. */
async function notarize(): Promise<number> {
  const { length: size } = await ownEvents()
  const stop = new AbortController()
  const running = followLog(options(), stop.signal)
  while ((await readCheckpoint(api.ledger.db))?.size !== size)
    await Promise.race([running, new Promise((resolve) => setTimeout(resolve, 5))])
  stop.abort()
  await running
  return size
}

test('the checkpoint has the root of all events in log order, signed', async () => {
  await mint(5)
  const size = await notarize()
  const checkpoint = await readCheckpoint(api.ledger.db)
  if (!checkpoint) throw new Error('there is none')
  const note = parseNote(checkpoint.note)
  expect(() => verifyNote(note, [key])).not.toThrow()
  const { origin, root } = parseCheckpoint(note.text)
  expect(origin).toBe(signer.origin)
  const entries = (await ownEvents()).map((event) =>
    entryOf(readRecord(Buffer.from(recordOf(event)).toString())),
  )
  expect(entries).toHaveLength(size)
  expect(Buffer.from(root).equals(treeHash(entries))).toBe(true)
})

test('it goes on where it ended, and a later tree continues an earlier one', async () => {
  await notarize()
  const before = await readCheckpoint(api.ledger.db)
  await mint(7)
  await notarize()
  const after = await readCheckpoint(api.ledger.db)
  if (!before || !after) throw new Error('there is none')
  expect(after.size).toBeGreaterThan(before.size)
  const ranges = rangesOfConsistency(before.size, after.size)
  const proof = await readHashes(ranges, after.size, tileReader(api.ledger.db))
  expect(provesConsistency(before, after, proof)).toBe(true)
})

test('every event has a receipt, which proves it and no other', async () => {
  await mint(3)
  await notarize()
  const events = await ownEvents()
  const ports = { db: api.ledger.db, log, ledger: api.ledger.ports.ledger }
  for (const { stream, revision } of events) {
    const receipt = await makeReceipt(ports, { stream, revision })
    if (!receipt) throw new Error(`${stream} at ${revision} has no receipt`)
    const { index, proof, checkpoint } = parseProof(receipt.proof)
    const note = parseNote(checkpoint)
    verifyNote(note, [key])
    const tree = parseCheckpoint(note.text)
    expect(JSON.parse(receipt.record)).toMatchObject({ stream, revision })
    const record = readRecord(receipt.record)
    expect(provesInclusion(leafHash(entryOf(record)), index, tree, proof)).toBe(true)
    const other = leafHash(entryOf({ ...record, revision: record.revision + 1 }))
    expect(provesInclusion(other, index, tree, proof)).toBe(false)
  }
})

test('an event after the checkpoint, and one that does not exist, have none', async () => {
  await notarize()
  const [licenseId] = await mint(1)
  const ports = { db: api.ledger.db, log, ledger: api.ledger.ports.ledger }
  expect(await makeReceipt(ports, { stream: `license-${licenseId}`, revision: 0 })).toBeUndefined()
  expect(await makeReceipt(ports, { stream: `license-${licenseId}`, revision: 9 })).toBeUndefined()
})

describe('the tree in the database', () => {
  test('is the same however many events each transaction adds, also over tiles', async () => {
    const events = (await ownEvents()).map(leafOf)
    const [sample] = events
    if (!sample) throw new Error('there are no events')
    const many = Array.from({ length: 600 }, (_, at) => ({
      place: { ...sample.place, revision: at },
      hash: leafHash(Buffer.from(`leaf ${at}`)),
    }))
    const root = treeHash(many.map((_, at) => Buffer.from(`leaf ${at}`)))
    const client = await api.ledger.db.connect()
    try {
      await fc.assert(
        fc.asyncProperty(fc.array(fc.integer({ min: 1, max: 300 }), { minLength: 1 }), async (steps) => {
          await client.query('truncate notary.tree, notary.tiles, notary.checkpoint, notary.checkpoints')
          let tree = await openTree(client, origin)
          const left = [...many]
          for (let step = 0; left.length > 0; step += 1) {
            const [first, ...rest] = left.splice(0, steps[step % steps.length])
            if (first) tree = await addLeaves(client, tree, [first, ...rest])
          }
          expect(await readTree(client)).toEqual(tree)
          expect(Buffer.from(rootOf(tree.edge)).equals(root)).toBe(true)
          const { rows } = await client.query<{ level: number; bytes: number }>(
            'select level, octet_length(hashes) as bytes from notary.tiles order by level, index',
          )
          expect(rows.map(({ level, bytes }) => [level, bytes / 32])).toEqual([
            [0, 256],
            [0, 256],
            [0, 88],
            [1, 2],
          ])
        }),
        { numRuns: 10 },
      )
    } finally {
      await client.query('truncate notary.tree, notary.tiles, notary.checkpoint, notary.checkpoints')
      client.release()
    }
  })

  test('is not continued by a process that did not see its last leaves', async () => {
    const client = await api.ledger.db.connect()
    try {
      const empty = await openTree(client, origin)
      const leaf = { place: { stream: 'x', revision: 0, id: 'a' }, hash: leafHash(Buffer.from('a')) }
      await addLeaves(client, empty, [leaf])
      await expect(addLeaves(client, empty, [leaf])).rejects.toThrow('another process')
      expect((await readTree(client)).edge.size).toBe(1)
    } finally {
      await client.query('truncate notary.tree, notary.tiles, notary.checkpoint, notary.checkpoints')
      client.release()
    }
  })
})

describe('nothing is signed', () => {
  test('when a larger tree was signed, or another of the same size', async () => {
    const size = await notarize()
    const tree = await readTree(api.ledger.db)
    const { db } = api.ledger
    const treeOf = (size: number, subtrees: Uint8Array[]) => ({ ...tree, edge: { size, subtrees } })
    const hash = leafHash(Buffer.from('other'))
    const other = treeOf(
      size,
      tree.edge.subtrees.map(() => hash),
    )
    await expect(signCheckpoint(db, signer, other, new Date())).rejects.toThrow('has other ones')
    await expect(signCheckpoint(db, signer, treeOf(1, [hash]), new Date())).rejects.toThrow('has other ones')
    await expect(signCheckpoint(db, signer, tree, new Date())).resolves.toMatchObject({ size })
  })

  test('for a log that another one has replaced', async () => {
    await notarize()
    const { db } = api.ledger
    const tree = await readTree(db)
    const client = await db.connect()
    try {
      await openTree(client, 'licenses.example/ledger/2')
      await expect(signCheckpoint(db, signer, tree, new Date())).rejects.toThrow('another process')
      expect((await readTree(client)).edge.size).toBe(0)
    } finally {
      await client.query('truncate notary.tree, notary.tiles, notary.checkpoint, notary.checkpoints')
      client.release()
    }
  })

  test('when the log lacks the last event of the tree', async () => {
    await notarize()
    const { db } = api.ledger
    await db.query(`update notary.tree set last_revision = last_revision + 1000`)
    await expect(followLog(options(), new AbortController().signal)).rejects.toThrow(
      'the event store lacks the event',
    )
    await db.query(`update notary.tree set last_revision = last_revision - 1000, last_event_id = 'another'`)
    await expect(followLog(options(), new AbortController().signal)).rejects.toThrow(
      'the event store lacks the event',
    )
    await db.query('truncate notary.tree, notary.tiles, notary.checkpoint, notary.checkpoints')
  })
})
