// A read returns every event acknowledged before it began, unchanged and in order.
import { randomUUID } from 'node:crypto'
import {
  type AllStreamResolvedEvent,
  BACKWARDS,
  binaryEvent,
  END,
  excludeSystemEvents,
  FORWARDS,
  jsonEvent,
  NO_STREAM,
  type ReadRevision,
  START,
} from '@eventstore/db-client'
import { afterAll, describe, expect, test } from 'vitest'
import { collect, connect, numbered, numberedUpTo, uniqueStream } from './event-store.ts'
import { FilteredReader } from './filtered-reader.ts'

const { client, url } = await connect()
const reader = new FilteredReader(url)
afterAll(() => reader.close())

async function streamOf(count: number): Promise<string> {
  const stream = uniqueStream()
  await client.appendToStream(stream, numberedUpTo(count), { expectedRevision: NO_STREAM })
  return stream
}

async function revisions(
  stream: string,
  direction: typeof FORWARDS | typeof BACKWARDS,
  fromRevision: ReadRevision,
  maxCount = 1_000,
): Promise<number[]> {
  const events = await collect(client.readStream(stream, { direction, fromRevision, maxCount }))
  return events.map(({ event }) => Number(event?.revision))
}

describe('one stream', () => {
  test('an event is read as it was written', async () => {
    const stream = uniqueStream()
    const json = jsonEvent({ type: 'Étrange', data: { text: '日本' }, metadata: { by: 'ü' } })
    const binary = binaryEvent({ type: 'Raw', data: Uint8Array.of(0, 255), metadata: Uint8Array.of(7) })
    const before = Date.now()
    await client.appendToStream(stream, [json, binary], { expectedRevision: NO_STREAM })
    const [first, second] = (await collect(client.readStream(stream))).map(({ event }) => event)

    const { created, position, ...rest } = first ?? {}
    expect(rest).toStrictEqual({
      streamId: stream,
      id: json.id,
      revision: 0n,
      type: 'Étrange',
      data: { text: '日本' },
      metadata: { by: 'ü' },
      isJson: true,
    })
    expect(Math.abs(Number(created) - before)).toBeLessThan(60_000)
    expect(position?.commit).toBe(position?.prepare)
    expect(second).toMatchObject({ id: binary.id, isJson: false, revision: 1n })
    expect(Buffer.from(second?.data instanceof Uint8Array ? second.data : [])).toStrictEqual(
      Buffer.of(0, 255),
    )
  })

  test('is read from the given revision, in both directions', async () => {
    const stream = await streamOf(5)
    expect(await revisions(stream, FORWARDS, START)).toStrictEqual([0, 1, 2, 3, 4])
    expect(await revisions(stream, FORWARDS, 3n)).toStrictEqual([3, 4])
    expect(await revisions(stream, FORWARDS, 1n, 2)).toStrictEqual([1, 2])
    expect(await revisions(stream, FORWARDS, 5n)).toStrictEqual([])
    expect(await revisions(stream, BACKWARDS, END)).toStrictEqual([4, 3, 2, 1, 0])
    expect(await revisions(stream, BACKWARDS, 2n)).toStrictEqual([2, 1, 0])
    expect(await revisions(stream, BACKWARDS, END, 1)).toStrictEqual([4])
    expect(await revisions(stream, BACKWARDS, START)).toStrictEqual([0])
  })

  test('is read completely when it is longer than a page', async () => {
    const stream = await streamOf(1_000)
    const all = Array.from({ length: 1_000 }, (_, index) => index)
    expect(await revisions(stream, FORWARDS, START)).toStrictEqual(all)
    expect(await revisions(stream, BACKWARDS, END)).toStrictEqual(all.toReversed())
  })

  test('that was never written to is not found', async () => {
    const stream = uniqueStream()
    await expect(collect(client.readStream(stream))).rejects.toMatchObject({
      type: 'stream-not-found',
      streamName: stream,
    })
  })

  test('is read completely by a slow reader', async () => {
    const stream = await streamOf(300)
    const seen: number[] = []
    for await (const { event } of client.readStream(stream, {}, { highWaterMark: 1 })) {
      if (seen.length % 50 === 0) await new Promise((resolve) => setTimeout(resolve, 5))
      seen.push(Number(event?.revision))
    }
    expect(seen).toStrictEqual(Array.from({ length: 300 }, (_, index) => index))
  })

  test('follows links on request', async () => {
    const target = await streamOf(2)
    const links = uniqueStream('links')
    const link = (data: string) => binaryEvent({ type: '$>', data: Buffer.from(data) })
    await client.appendToStream(links, [link(`1@${target}`), link(`7@${target}`)])

    const [found, missing] = await collect(client.readStream(links, { resolveLinkTos: true }))
    expect(found?.event).toMatchObject({ streamId: target, revision: 1n })
    expect(found?.link).toMatchObject({ streamId: links, revision: 0n, type: '$>' })
    expect(missing?.event).toBeUndefined()
    expect(missing?.link).toMatchObject({ streamId: links, revision: 1n })

    const [unresolved] = await collect(client.readStream(links))
    expect(unresolved?.event).toMatchObject({ streamId: links, type: '$>' })
  })
})

describe('$all', () => {
  const positionOf = ({ event }: AllStreamResolvedEvent): bigint | undefined => event?.position.commit

  test('includes the position forwards and excludes it backwards', async () => {
    const stream = uniqueStream()
    const at = [0, 1, 2].map((n) => client.appendToStream(stream, numbered(n)))
    const [first, , last] = (await Promise.all(at)).map(({ position }) => position)
    if (!first || !last) throw new Error('an append answered without a position')

    const forwards = await collect(client.readAll({ fromPosition: first, maxCount: 1 }))
    expect(forwards.map(positionOf)).toStrictEqual([first.commit])
    const [before] = await collect(client.readAll({ direction: BACKWARDS, fromPosition: last, maxCount: 1 }))
    expect(before && positionOf(before)).toBeLessThan(last.commit)
  })

  test('cannot be read from a position without an event', async () => {
    const { position } = await client.appendToStream(uniqueStream(), numberedUpTo(3))
    if (!position) throw new Error('an append answered without a position')
    // EventStoreDB takes a position inside the last event of the log as its end.
    await client.appendToStream(uniqueStream(), numbered(0))
    for (const commit of [position.commit - 1n, position.commit + 1n]) {
      const fromPosition = { commit, prepare: commit }
      for (const direction of [FORWARDS, BACKWARDS] as const) {
        await expect(collect(client.readAll({ direction, fromPosition, maxCount: 1 }))).rejects.toThrow(
          'Unexpected ReadAllResult: InvalidPosition',
        )
      }
      for (const options of [{ fromPosition }, { fromPosition, filter: excludeSystemEvents() }]) {
        await expect(collect<unknown>(client.subscribeToAll(options))).rejects.toThrow(
          'INVALID_ARGUMENT: Trying to read from an invalid position.',
        )
      }
    }
    const beyond = { commit: position.commit + 1_000_000n, prepare: position.commit + 1_000_000n }
    expect(await collect(client.readAll({ fromPosition: beyond }))).toStrictEqual([])
  })

  test('is the same backwards as forwards, with positions that are far apart', async () => {
    const opening = await client.appendToStream(uniqueStream(), numberedUpTo(3))
    await Promise.all([1, 2, 3].map((count) => client.appendToStream(uniqueStream(), numberedUpTo(count))))
    const from = opening.position ?? START
    const forwards = (await collect(client.readAll({ fromPosition: from }))).map(positionOf)
    const [first, last] = [forwards[0], forwards.at(-1)]
    if (first === undefined || last === undefined) throw new Error('nothing was read forwards')
    const before = await collect(client.readAll({ direction: BACKWARDS, fromPosition: END, maxCount: 2000 }))
    // Tests of other files may append to the same log in the meantime.
    const isBetween = (position: bigint | undefined) =>
      position !== undefined && first <= position && position <= last
    const backwards = before.map(positionOf).filter(isBetween)
    expect(forwards.length).toBeGreaterThanOrEqual(7)
    expect(backwards).toStrictEqual(forwards.toReversed())
    const gaps = forwards.slice(1).map((position, index) => Number(position) - Number(forwards[index]))
    expect(Math.min(...gaps)).toBeGreaterThan(1)
  })

  test('has system events from the start, and nothing beyond the end', async () => {
    const [first] = await collect(client.readAll({ maxCount: 1 }))
    expect(first?.event?.type).toMatch(/^\$/)
    expect(await collect(client.readAll({ fromPosition: END }))).toStrictEqual([])
    expect(await collect(client.readAll({ direction: BACKWARDS, fromPosition: START }))).toStrictEqual([])
  })

  test('is read through filters on stream names and event types', async () => {
    const category = `c${randomUUID().replaceAll('-', '')}`
    const [a, b] = [uniqueStream(category), uniqueStream(category)]
    const typed = (n: number) => ({ ...numbered(n), type: `${category}Typed` })
    await client.appendToStream(a, [numbered(0), typed(1)])
    await client.appendToStream(uniqueStream(), numberedUpTo(300))
    await client.appendToStream(b, [typed(2), numbered(3)])

    const inCategory = [`0@${a}`, `1@${a}`, `0@${b}`, `1@${b}`]
    expect(await reader.read({ streamPrefixes: [`${category}-`] })).toStrictEqual(inCategory)
    expect(await reader.read({ streamRegex: `^${category}-` })).toStrictEqual(inCategory)
    expect(await reader.read({ streamPrefixes: [`${category}-`], maxCount: 3 })).toStrictEqual(
      inCategory.slice(0, 3),
    )
    expect(await reader.read({ streamPrefixes: [a, b], backwards: true })).toStrictEqual(
      inCategory.toReversed(),
    )
    expect(await reader.read({ typePrefixes: [`${category}T`] })).toStrictEqual([`1@${a}`, `0@${b}`])
    expect(await reader.read({ typeRegex: `^${category}` })).toStrictEqual([`1@${a}`, `0@${b}`])
  })

  test('without system events has none', async () => {
    await client.appendToStream(uniqueStream(), numbered(0))
    const events = await reader.read({ typeRegex: '^[^$].*', maxCount: 50 })
    expect(events.length).toBeGreaterThan(0)
    expect(events.filter((event) => event.includes('@$'))).toStrictEqual([])
  })

  test('fails on an invalid regular expression in a filter', async () => {
    await expect(reader.read({ streamRegex: '(' })).rejects.toMatchObject({ code: 2 })
  })
})
