/**
 * A copied log is the same log: every event of the ledger's streams has the same id, type, bytes, revision and
 * order. A copy continues where it stopped, and never writes into another log.
 */
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { rmSync } from 'node:fs'
import { createServer } from 'node:http2'
import { afterAll, afterEach, expect, test } from 'vitest'
import { z } from 'zod'
import { startEventStore } from '../../infra/local/eventstore/server.ts'
import { LedgerUnavailable } from '../../src/ledger/connection/unavailable.ts'
import { compareLogs } from '../../src/ledger/raw/compare-logs.ts'
import { type CopyOptions, copyLog, TargetDiffers } from '../../src/ledger/raw/copy.ts'
import type { RawEventToWrite } from '../../src/ledger/raw/event.ts'
import { openRawLog, type RawLog } from '../../src/ledger/raw/log.ts'
import { temporaryDirectory } from '../infra/temporary.ts'

const undo: (() => unknown)[] = []
const end = async () => {
  for (const step of undo.splice(0).reverse()) await step()
}
afterEach(end)
afterAll(end)

async function openStore(): Promise<RawLog & { url: string }> {
  const directory = temporaryDirectory()
  undo.push(() => rmSync(directory, { recursive: true, force: true }))
  const store = await startEventStore({ directory })
  undo.push(() => store.close())
  const log = openRawLog(store.url)
  undo.push(() => log.close())
  return { ...log, url: store.url }
}

/** JSON that would change when decoded and encoded again, and bytes that are no JSON. */
const contents = [
  '{"a":1}',
  '{ "b" : 1.0,  "a": "\\u00e4" }',
  '{"a":1,"a":2}',
  '{"n":12345678901234567890}',
  'no json {',
  '',
].map((text) => new TextEncoder().encode(text))
const bytes = new Uint8Array([0, 255, 128, 10])
const otherBytes = new Uint8Array([0, 255, 128, 11])

/** Events of several streams, interleaved in groups. */
function history(count: number, streams = 7): RawEventToWrite[] {
  const revisions = new Map<string, number>()
  return Array.from({ length: count }, (_, index) => {
    const stream = `license-${Math.floor(index / 3) % streams}-ü`
    const revision = revisions.get(stream) ?? 0
    revisions.set(stream, revision + 1)
    const isJson = index % 5 !== 0
    return {
      id: randomUUID(),
      stream,
      revision,
      type: `Kind${index % 4}`,
      isJson,
      data: isJson ? (contents[index % contents.length] ?? bytes) : bytes,
      metadata: index % 3 === 0 ? new Uint8Array() : (contents[(index + 1) % contents.length] ?? bytes),
    }
  })
}

async function write(log: RawLog, events: readonly RawEventToWrite[]): Promise<void> {
  const appends = await log.openAppends()
  await Promise.all(events.map((event) => appends.append([event])))
  appends.close()
}

async function eventsIn(log: RawLog): Promise<RawEventToWrite[]> {
  const found: RawEventToWrite[] = []
  for await (const { events } of log.pages(undefined)) {
    for (const { position: _, ...event } of events) found.push(plain(event))
  }
  return found
}

/** Compares bytes, whatever kind of array holds them. */
const plain = (event: RawEventToWrite): RawEventToWrite => ({
  ...event,
  data: Uint8Array.from(event.data),
  metadata: Uint8Array.from(event.metadata),
})

const Port = z.object({ port: z.int() })
const quiet: CopyOptions = { onProgress: () => undefined, onRetry: () => undefined }
const all = Number.MAX_SAFE_INTEGER
const compare = (one: RawLog, other: RawLog) => compareLogs(one, other, all, () => undefined)

test('every event of the ledger’s streams arrives unchanged and in order, and no other event does', async () => {
  const [source, target] = [await openStore(), await openStore()]
  const events = history(1100)
  const foreign = { ...history(1)[0], stream: 'somebody-elses', id: randomUUID() } as RawEventToWrite
  await write(source, [...events.slice(0, 700), foreign, ...events.slice(700)])

  expect(await copyLog(source, target, quiet)).toBe(1100)

  expect(await eventsIn(target)).toStrictEqual(events)
  expect(await compare(source, target)).toMatchObject({
    equal: true,
    events: 1100,
    streams: 7,
    differences: [],
  })
})

test('a copy continues at any event', async () => {
  const source = await openStore()
  const events = history(120)
  await write(source, events)
  for (const left of [1, 2, 59, 119, 120]) {
    const target = await openStore()
    await write(target, events.slice(0, left))
    expect(await copyLog(source, target, quiet)).toBe(120)
    expect(await eventsIn(target)).toStrictEqual(events)
  }
})

test('events recorded during the copy are copied, until no more can come', async () => {
  const [source, target] = [await openStore(), await openStore()]
  const events = history(90)
  await write(source, events.slice(0, 30))
  let asked = 0
  const mayGrow = async () => {
    asked++
    // Events recorded before the answer that no more will come must be copied, too.
    await write(source, events.slice(asked * 30, asked * 30 + 30))
    return asked < 2
  }
  expect(await copyLog(source, target, { ...quiet, mayGrow })).toBe(90)
  expect(await eventsIn(target)).toStrictEqual(events)
})

test('a target that is not a prefix of the source is refused and not changed', async () => {
  const source = await openStore()
  const events = history(60)
  await write(source, events)
  const [other = events[0]] = history(1)
  if (!other) throw new Error('there is one')
  const held: Record<string, RawEventToWrite[]> = {
    'another log': [other],
    'another event in the middle': [...events.slice(0, 20), { ...other, stream: 'license-other' }],
    'other bytes': [{ ...(events[0] ?? other), data: otherBytes }],
    'more events than the source': [...events, { ...other, stream: 'license-more' }],
    'another order': [...events.slice(0, 3), ...events.slice(6, 9), ...events.slice(3, 6)],
  }
  for (const [what, content] of Object.entries(held)) {
    const target = await openStore()
    await write(target, content)
    const before = await target.head()
    await expect(copyLog(source, target, quiet), what).rejects.toThrow(TargetDiffers)
    expect(await target.head(), what).toBe(before)
  }
})

test('a lost append among later ones is detected, and nothing more is written', async () => {
  const [source, target] = [await openStore(), await openStore()]
  await write(source, history(60))
  let sent = 0
  const withGap: RawLog = {
    ...target,
    async openAppends() {
      const appends = await target.openAppends()
      const append: typeof appends.append = (events) =>
        sent++ === 5 ? Promise.reject(new LedgerUnavailable('lost')) : appends.append(events)
      return { ...appends, append }
    },
  }
  await expect(copyLog(source, withGap, quiet)).rejects.toThrow(
    /^The target is not a copy of the source: after 15 identical events/,
  )
  expect(sent).toBe(20)
})

test('after a refused append nothing more is sent', async () => {
  const target = await openStore()
  const events = history(9)
  const appends = await target.openAppends()
  const [first, ...rest] = events
  if (!first) throw new Error('there is one')
  await appends.append([first])
  const gap = appends.append([{ ...first, id: randomUUID(), revision: 7 }])
  await expect(gap).rejects.toThrow('does not stand at the revision before the one to write')
  for (const event of rest) await expect(appends.append([event])).rejects.toThrow('does not stand at')
  expect(await eventsIn(target)).toStrictEqual([first])
})

test('events that are sent again are acknowledged at their position, and not written twice', async () => {
  const target = await openStore()
  const events = history(30)
  await write(target, events)
  await write(target, events)
  expect(await eventsIn(target)).toStrictEqual(events)
})

test('a copy survives an outage of the store', async () => {
  const [source, directory] = [await openStore(), temporaryDirectory()]
  undo.push(() => rmSync(directory, { recursive: true, force: true }))
  const events = history(1200)
  await write(source, events)
  let store = await startEventStore({ directory })
  const target = openRawLog(store.url)
  undo.push(() => target.close())
  let restarting: Promise<unknown> | undefined
  const onProgress = () => {
    restarting ??= store.close().then(async () => {
      store = await startEventStore({ directory })
    })
  }
  expect(await copyLog(source, target, { ...quiet, onProgress })).toBe(1200)
  await restarting
  expect(await compare(source, target)).toMatchObject({ equal: true, events: 1200 })
  await target.close()
  await store.close()
})

test('a reader lets the store send two megabytes ahead', async () => {
  const server = createServer()
  undo.push(() => server.close())
  const granted = new Promise((resolve) => {
    server.on('stream', (stream) => {
      resolve(stream.session?.remoteSettings.initialWindowSize)
      stream.respond(
        { ':status': 200, 'content-type': 'application/grpc', 'grpc-status': 0 },
        { endStream: true },
      )
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = Port.parse(server.address())
  const log = openRawLog(`esdb://127.0.0.1:${port}?tls=false`)
  undo.push(() => log.close())
  expect(await log.head()).toBeUndefined()
  expect(await granted).toBe(2 * 1024 * 1024)
})

test('a comparison names the streams that differ, and detects a different order', async () => {
  const source = await openStore()
  const events = history(21)
  await write(source, events)
  const [changed, reordered, shorter] = [await openStore(), await openStore(), await openStore()]
  await write(
    changed,
    events.map((event, index) => (index === 20 ? { ...event, data: otherBytes } : event)),
  )
  await write(reordered, [...events.slice(3), ...events.slice(0, 3)])
  await write(shorter, events.slice(0, 18))

  expect(await compare(source, changed)).toMatchObject({
    equal: false,
    events: 20,
    differences: [{ stream: events[20]?.stream, difference: 'not the same' }],
  })
  expect(await compare(source, reordered)).toMatchObject({ equal: false, events: 0, differences: [] })
  expect(await compare(source, shorter)).toMatchObject({
    equal: false,
    events: 18,
    differences: [{ stream: events[20]?.stream, difference: 'missing in the target' }],
  })
  expect(await compareLogs(source, shorter, 18, () => undefined)).toMatchObject({ equal: true, events: 18 })
})
