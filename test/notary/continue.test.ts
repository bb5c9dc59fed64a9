/**
 * Guarantee: a database that does not know what was signed, such as after a restore, signs nothing until the operator says how to go
 * on: from the last published checkpoint, which must be of this very log, or with another log that names it.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { notaryStream } from '../../src/domain/streams.ts'
import { openRawLog, type RawLog } from '../../src/ledger/raw/log.ts'
import { readCheckpoint } from '../../src/notary/checkpoints.ts'
import { resumeLog, startNextLog } from '../../src/notary/continue.ts'
import { proveConsistency } from '../../src/notary/published-tree.ts'
import { makeReceipt } from '../../src/notary/receipt.ts'
import { openSigner, readNotaryLog } from '../../src/notary/signing-log.ts'
import { checkpointText, parseCheckpoint } from '../../src/transparency/checkpoint.ts'
import { privateKeyOf } from '../../src/transparency/note/keys.ts'
import { formatNote, parseNote } from '../../src/transparency/note/note.ts'
import { signNote } from '../../src/transparency/note/verifier.ts'
import { leafHash } from '../../src/transparency/tree/edge.ts'
import { provesConsistency } from '../../src/transparency/tree/proof.ts'
import { makeTenant, openTestApi, type TestApi } from '../harness/api.ts'
import { startNotary, testCause, testOrigin } from '../harness/notary.ts'

let api: TestApi
let log: RawLog
beforeAll(async () => {
  api = await openTestApi()
  log = openRawLog(api.ledger.eventStoreUrl)
  await makeTenant(api.ledger)
  await publish()
})
afterAll(async () => {
  await log.close()
  await api.close()
})

const ports = () => ({ ...api.ledger.ports, log })

/** Signs everything. @returns the last checkpoint, as a reader keeps it */
async function publish(): Promise<string> {
  const notary = startNotary(api.ledger)
  await notary.upToDate()
  await notary.stop()
  const checkpoint = await readCheckpoint(api.ledger.db)
  if (!checkpoint) throw new Error('nothing was signed')
  return checkpoint.note
}

/** What a restore leaves: the log and the vault, and nothing of what was signed. */
async function forget(): Promise<void> {
  await api.ledger.db.query(
    'truncate notary.tree, notary.tiles, notary.checkpoint, notary.checkpoints, notary.logs',
  )
}

const open = () => openSigner(api.ledger.ports, testOrigin, testCause())
const bodyOf = (note: string) => parseCheckpoint(parseNote(note).text)

/** Goes on from a checkpoint of which everybody says that it is the last. */
function resume(note: string) {
  const { size } = note === 'hello' ? { size: 0 } : bodyOf(note)
  const known = () => Promise.resolve([{ source: 'a reader', size }])
  return resumeLog(ports(), { note, known, abandonAfter: size })
}

/** A checkpoint of other events, signed by the true key. */
async function signed(size: number, root = leafHash(Buffer.from('other'))): Promise<string> {
  const { origin, privateKeys } = await open()
  const text = checkpointText({ origin, size, root })
  return formatNote({ text, signatures: privateKeys.map((key) => signNote(origin, key, text)) })
}

test('before the first log there is none to follow', async () => {
  const fresh = await openTestApi()
  const asked = { origin: undefined, lastCheckpoint: undefined }
  await expect(startNextLog(fresh.ledger.ports, asked, testCause())).rejects.toThrow('notary_not_started')
  expect((await readNotaryLog(fresh.ledger.ports)).origin).toBeUndefined()
  await fresh.close()
})

test('a copied checkpoint gives receipts although nothing is recorded since', async () => {
  const note = await publish()
  await api.ledger.db.query('truncate notary.tree, notary.tiles, notary.checkpoints')
  const notary = startNotary(api.ledger)
  const first = () => makeReceipt(ports(), { stream: notaryStream, revision: 0 })
  await expect.poll(async () => (await first())?.proof ?? 'no receipt').toContain(note)
  await notary.stop()
})

test('after a restore nothing is signed', async () => {
  await publish()
  await forget()
  await expect(open()).rejects.toThrow('was signed with another database')
  expect(await readCheckpoint(api.ledger.db)).toBeUndefined()
})

describe('from the last published checkpoint', () => {
  test('the log goes on, and nothing smaller is signed', async () => {
    await api.ledger.db.query('insert into notary.logs values ($1, now())', [testOrigin])
    const kept = await publish()
    await forget()
    const resumed = await resume(kept)
    expect(resumed).toStrictEqual({ origin: testOrigin, size: bodyOf(kept).size })
    expect((await readCheckpoint(api.ledger.db))?.note).toBe(kept)
    await makeTenant(api.ledger)
    const after = await publish()
    const [small, large] = [bodyOf(kept), bodyOf(after)]
    expect(large.size).toBeGreaterThan(small.size)
    const proof = await proveConsistency(api.ledger.db, small.size, large.size)
    expect(provesConsistency(small, large, proof)).toBe(true)
    const { rows } = await api.ledger.db.query<{ least: bigint }>(
      'select min(size) as least from notary.checkpoints',
    )
    expect(Number(rows[0]?.least)).toBeGreaterThanOrEqual(small.size)
  })

  test('it is refused for events that the event store lacks', async () => {
    const { size } = bodyOf(await publish())
    await expect(resume(await signed(size + 5))).rejects.toThrow(
      `the checkpoint covers ${size + 5} events, and the event store has ${size} of them`,
    )
  })

  test('it is refused for other events', async () => {
    const { size } = bodyOf(await publish())
    const other = resume(await signed(size))
    await expect(other).rejects.toThrow(`the first ${size} events are not those that the checkpoint covers`)
  })

  test('it is refused for an older one than another knows, for one that no other knows, and without any other', async () => {
    const older = await publish()
    await makeTenant(api.ledger)
    const newer = await publish()
    const [less, more] = [bodyOf(older), bodyOf(newer)]
    const goOn = (note: string, sizes: readonly number[], abandonAfter?: number) =>
      resumeLog(ports(), {
        note,
        known: () => Promise.resolve(sizes.map((size) => ({ source: 'a witness', size }))),
        abandonAfter,
      })
    await forget()
    await expect(goOn(older, [less.size, more.size], less.size)).rejects.toThrow(
      `a witness has a newer one of ${more.size}`,
    )
    await expect(goOn(newer, [less.size], more.size)).rejects.toThrow('nothing says that it is the last')
    await expect(goOn(newer, [], more.size)).rejects.toThrow(
      'nothing says whether a newer checkpoint was signed',
    )
    await expect(goOn(newer, [more.size])).rejects.toThrow(
      `abandons every checkpoint of more than ${more.size} events`,
    )
    await expect(goOn(newer, [more.size], less.size)).rejects.toThrow(`--abandon-after ${more.size}`)
    await expect(open()).rejects.toThrow('was signed with another database')
    expect(await goOn(newer, [more.size, less.size], more.size)).toStrictEqual({
      origin: testOrigin,
      size: more.size,
    })
  })

  test('it is refused for a foreign key, and for what is no checkpoint', async () => {
    const text = checkpointText({ origin: testOrigin, size: 1, root: leafHash(Buffer.from('x')) })
    const signatures = [signNote(testOrigin, privateKeyOf(Buffer.alloc(32, 9)), text)]
    await expect(resume(formatNote({ text, signatures }))).rejects.toThrow('no trusted key signed it')
    await expect(resume('hello')).rejects.toThrow('that is no checkpoint of this log')
  })
})

test('another log has all events, and names the last checkpoint of the one before', async () => {
  const last = await publish()
  expect(
    await startNextLog(api.ledger.ports, { origin: undefined, lastCheckpoint: undefined }, testCause()),
  ).toBe(`${testOrigin}/2`)
  const next = bodyOf(await publish())
  expect(next.origin).toBe(`${testOrigin}/2`)
  expect(next.size).toBeGreaterThan(bodyOf(last).size)
  await expect(
    startNextLog(api.ledger.ports, { origin: undefined, lastCheckpoint: last }, testCause()),
  ).rejects.toThrow(`that is no checkpoint of this log`)
  await makeTenant(api.ledger)
  const older = await readCheckpoint(api.ledger.db)
  const newest = await publish()
  await expect(
    startNextLog(api.ledger.ports, { origin: undefined, lastCheckpoint: older?.note }, testCause()),
  ).rejects.toThrow(`covers ${next.size} events, and the database has one of ${bodyOf(newest).size}`)
  const { predecessors, keys } = await readNotaryLog(api.ledger.ports)
  expect(predecessors).toStrictEqual([{ origin: testOrigin, checkpoint: last }])
  expect(keys).toHaveLength(1)
  await forget()
  const third = await startNextLog(
    api.ledger.ports,
    { origin: undefined, lastCheckpoint: newest },
    testCause(),
  )
  expect(third).toBe(`${testOrigin}/3`)
  expect((await readNotaryLog(api.ledger.ports)).predecessors[0]).toStrictEqual({
    origin: `${testOrigin}/2`,
    checkpoint: newest,
  })
  await expect(
    startNextLog(api.ledger.ports, { origin: testOrigin, lastCheckpoint: undefined }, testCause()),
  ).rejects.toThrow('notary_origin_used')
})
