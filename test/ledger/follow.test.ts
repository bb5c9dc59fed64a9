/** Followers see every event once and in order, across restarts of the store. */
import { rmSync } from 'node:fs'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type RunningEventStore, startEventStore } from '../../infra/local/eventstore/server.ts'
import { causeOf } from '../../src/commands/origin.ts'
import { tenantStream } from '../../src/domain/streams.ts'
import { follow } from '../../src/ledger/follow.ts'
import { connectLedger, type Ledger } from '../../src/ledger/ledger.ts'
import { createTail } from '../../src/ledger/tail.ts'
import { beginning, origin, temporaryDirectory, uniqueId } from '../harness/ledger.ts'

// These tests restart the store, so it is always the embedded one.
const directory = temporaryDirectory()
let store: RunningEventStore
let ledger: Ledger
beforeAll(async () => {
  store = await startEventStore({ directory })
  ledger = connectLedger(store.url, { tryMs: 1000, callMs: 10_000 })
})
afterAll(async () => {
  await ledger.close()
  await store.close()
  rmSync(directory, { recursive: true, force: true })
})

const cause = causeOf(origin, beginning)

async function append(name: string): Promise<{ stream: string; position: bigint }> {
  const stream = tenantStream(uniqueId(name))
  const data = { tenantId: stream.slice('tenant-'.length), name, plan: 'free' as const, at: beginning }
  const outcome = await ledger.append(stream, 'no_stream', [{ type: 'TenantCreated', data }], cause)
  if (!outcome.appended) throw new Error('the stream is new')
  return { stream, position: outcome.position }
}

const restart = async () => {
  await store.close()
  store = await startEventStore({ directory })
}

test('a follower continues without gap or repeat when the store restarts twice', async () => {
  const before = [await append('before'), await append('before')]
  const start = await ledger.head()
  const expected: string[] = []
  const seen: string[] = []
  const breaks: unknown[] = []
  const stop = new AbortController()
  const following = (async () => {
    for await (const { stream } of follow(ledger, start, stop.signal, (error) => breaks.push(error))) {
      seen.push(stream)
    }
  })()
  const seenAll = () => expect.poll(() => seen).toStrictEqual(expected)
  for (let n = 0; n < 5; n++) expected.push((await append('first')).stream)
  await seenAll()
  for (let times = 0; times < 2; times++) {
    await restart()
    for (let n = 0; n < 5; n++) expected.push((await append('after-restart')).stream)
    await seenAll()
  }
  expect(breaks.length).toBeGreaterThanOrEqual(2)
  stop.abort()
  await following
  expect(seen).toStrictEqual(expected)
  expect(seen).not.toContain(before[0]?.stream)
})

test('a follower from the start sees the log in order, and an aborted one ends', async () => {
  const { stream } = await append('last')
  const stop = new AbortController()
  const positions: bigint[] = []
  for await (const entry of follow(ledger, undefined, stop.signal, () => undefined)) {
    positions.push(entry.position)
    if (entry.stream === stream) stop.abort()
  }
  const { entries } = await ledger.readPage(undefined, 1000)
  expect(positions).toStrictEqual(entries.map(({ position }) => position))
  expect(positions).toStrictEqual([...positions].sort((a, b) => (a < b ? -1 : 1)))
})

test('pages have no gaps or repeats, whatever their size', async () => {
  const { entries } = await ledger.readPage(undefined, 1000)
  for (const limit of [1, 2, 3, 100]) {
    const joined: bigint[] = []
    for (let after: bigint | undefined; ; ) {
      const page = await ledger.readPage(after, limit)
      if (page.through === undefined) break
      joined.push(...page.entries.map(({ position }) => position))
      after = page.through
    }
    expect(joined).toStrictEqual(entries.map(({ position }) => position))
  }
})

test('the tail returns the same as the log, while it is followed and when it is not', async () => {
  const tail = createTail(ledger)
  const start = (await append('tail')).position
  const stop = new AbortController()
  const seen: bigint[] = []
  const following = (async () => {
    for await (const { position } of tail.follow(start, stop.signal, () => undefined)) seen.push(position)
  })()
  let after = start
  for (let round = 0; round < 5; round++) {
    const appended = [await append('tail'), await append('tail'), await append('tail')]
    const read: bigint[] = []
    while (read.length < appended.length) {
      const { entries, through } = await tail.readPage(after, 2)
      read.push(...entries.map(({ position }) => position).filter((position) => position > after))
      after = through ?? after
    }
    expect(read).toStrictEqual(appended.map(({ position }) => position))
    if (round === 2) await restart()
  }
  // For dropped entries, it reads from the store.
  expect((await tail.readPage(start, 100)).entries).toHaveLength(15)
  await expect.poll(() => seen.length).toBe(15)
  stop.abort()
  await following
  expect((await tail.readPage(start, 100)).entries).toHaveLength(15)
})

test('a subscription that is given up while it connects ends', async () => {
  await append('there')
  const stop = new AbortController()
  const first = ledger.subscribe(undefined, stop.signal)[Symbol.asyncIterator]().next()
  stop.abort()
  expect(await first).toMatchObject({ done: true })
})
