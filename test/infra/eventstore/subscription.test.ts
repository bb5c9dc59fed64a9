// A subscription delivers every event after its start once and in order, and has no end.
import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import {
  type AllStreamSubscription,
  END,
  eventTypeFilter,
  excludeSystemEvents,
  jsonEvent,
  NO_STREAM,
  type Position,
  type ResolvedEvent,
  START,
  StreamDeletedError,
  type StreamSubscription,
  streamNameFilter,
} from '@eventstore/db-client'
import { describe, expect, test } from 'vitest'
import { collect, connect, isEmbedded, numbered, numberedUpTo, uniqueStream } from './event-store.ts'

const { client } = await connect()

type Subscription = StreamSubscription | AllStreamSubscription

/** The next events, as `revision@stream`. The subscription stays open. */
async function next(subscription: Subscription, count: number): Promise<string[]> {
  const events: string[] = []
  const resolved: AsyncIterable<ResolvedEvent> = subscription.iterator({ destroyOnReturn: false })
  for await (const { event } of resolved) {
    events.push(`${event?.revision}@${event?.streamId}`)
    if (events.length === count) break
  }
  return events
}

/** The first event of a stream or of its metadata. The subscription stays open. */
async function firstAbout(subscription: AllStreamSubscription, stream: string): Promise<string | undefined> {
  for (;;) {
    const [event] = await next(subscription, 1)
    if (event?.endsWith(stream)) return event
  }
}

/** The position of the last event. */
async function endOfLog(): Promise<Position> {
  const { position } = await client.appendToStream(uniqueStream('marker'), numbered(0))
  if (!position) throw new Error('the append answered without a position')
  return position
}

function emitted(subscription: Subscription, event: 'caughtUp' | 'confirmation'): Promise<void> {
  return new Promise((resolve) => {
    subscription.once(event, () => resolve())
  })
}

function named(stream: string, from: number, to: number): string[] {
  return Array.from({ length: to - from }, (_, index) => `${from + index}@${stream}`)
}

describe('one stream', () => {
  test('from the start, delivers existing events and then new ones', async () => {
    const stream = uniqueStream()
    await client.appendToStream(stream, numberedUpTo(500))
    const subscription = client.subscribeToStream(stream)
    const caughtUp = emitted(subscription, 'caughtUp')
    expect(await next(subscription, 500)).toStrictEqual(named(stream, 0, 500))
    await caughtUp
    await client.appendToStream(stream, numberedUpTo(3))
    expect(await next(subscription, 3)).toStrictEqual(named(stream, 500, 503))
    await subscription.unsubscribe()
  })

  test('excludes the revision it starts at', async () => {
    const stream = uniqueStream()
    await client.appendToStream(stream, numberedUpTo(3))
    const subscription = client.subscribeToStream(stream, { fromRevision: 1n })
    expect(await next(subscription, 1)).toStrictEqual([`2@${stream}`])
    await subscription.unsubscribe()
  })

  test('from the end, delivers only new events', async () => {
    const stream = uniqueStream()
    await client.appendToStream(stream, numberedUpTo(3))
    const subscription = client.subscribeToStream(stream, { fromRevision: END })
    await emitted(subscription, 'caughtUp')
    await client.appendToStream(stream, numbered(3))
    expect(await next(subscription, 1)).toStrictEqual([`3@${stream}`])
    await subscription.unsubscribe()
  })

  test('waits for a stream that does not exist yet', async () => {
    const stream = uniqueStream()
    const subscription = client.subscribeToStream(stream)
    await emitted(subscription, 'caughtUp')
    await client.appendToStream(stream, numbered(0), { expectedRevision: NO_STREAM })
    expect(await next(subscription, 1)).toStrictEqual([`0@${stream}`])
    await subscription.unsubscribe()
  })

  test('ends with an error when the stream is tombstoned', async () => {
    const stream = uniqueStream()
    await client.appendToStream(stream, numbered(0))
    await client.tombstoneStream(stream)
    await expect(next(client.subscribeToStream(stream), 1)).rejects.toBeInstanceOf(StreamDeletedError)
  })
})

describe('$all', () => {
  test('from the end of all, sends a checkpoint from which it can be resumed', async () => {
    const told: Position[] = []
    const filter = streamNameFilter({
      prefixes: ['nothing-'],
      checkpointReached: (_, position) => void told.push(position),
    })
    const subscription = client.subscribeToAll({ fromPosition: END, filter })
    subscription.on('data', () => undefined)
    // The embedded store sends one at once, EventStoreDB with the first window of events.
    if (!isEmbedded) {
      await emitted(subscription, 'confirmation')
      await client.appendToStream(uniqueStream(), numberedUpTo(100))
    }
    await expect.poll(() => told.length).toBeGreaterThan(0)
    await subscription.unsubscribe()
    if (isEmbedded) expect(told).toHaveLength(1)
    const [fromPosition] = told
    if (!fromPosition) throw new Error('no checkpoint was told')
    expect(await collect(client.readAll({ fromPosition, maxCount: 1 }))).toHaveLength(1)
  })

  test('delivers existing and new events after its start', async () => {
    const start = await endOfLog()
    const stream = uniqueStream()
    await client.appendToStream(stream, numberedUpTo(300))
    const filter = streamNameFilter({ prefixes: [stream] })
    const subscription = client.subscribeToAll({ fromPosition: start, filter })
    const writing = Promise.all(
      Array.from({ length: 50 }, (_, n) => client.appendToStream(stream, [numbered(n), numbered(n)])),
    )
    expect(await next(subscription, 400)).toStrictEqual(named(stream, 0, 400))
    await writing
    await subscription.unsubscribe()
  })

  // Other test files may append to the same log in the meantime.
  test('excludes the position it starts at', async () => {
    const marker = uniqueStream()
    const { position: fromPosition = START } = await client.appendToStream(marker, numbered(0))
    await client.appendToStream(marker, numbered(1))
    const subscription = client.subscribeToAll({ fromPosition, filter: excludeSystemEvents() })
    expect(await firstAbout(subscription, marker)).toBe(`1@${marker}`)
    await subscription.unsubscribe()
  })

  test('without a filter delivers system events too', async () => {
    const fromPosition = await endOfLog()
    const stream = uniqueStream()
    await client.setStreamMetadata(stream, { maxCount: 5 })
    const subscription = client.subscribeToAll({ fromPosition })
    expect(await firstAbout(subscription, stream)).toBe(`0@$$${stream}`)
    await subscription.unsubscribe()
  })

  test('filters on event types', async () => {
    const start = await endOfLog()
    const stream = uniqueStream()
    const type = `Typed${randomUUID().replaceAll('-', '')}`
    const typed = () => jsonEvent({ type, data: {} })
    await client.appendToStream(stream, [numbered(0), typed(), numbered(2), typed()])
    for (const filter of [
      eventTypeFilter({ prefixes: [type.slice(0, -1)] }),
      eventTypeFilter({ regex: `^${type}$` }),
    ]) {
      const subscription = client.subscribeToAll({ fromPosition: start, filter })
      expect(await next(subscription, 2)).toStrictEqual([`1@${stream}`, `3@${stream}`])
      await subscription.unsubscribe()
    }
  })

  test('sends a checkpoint for each window of checked events', async () => {
    const start = await endOfLog()
    await client.appendToStream(uniqueStream(), numberedUpTo(200))
    const checkpoints: bigint[] = []
    const filter = streamNameFilter({
      prefixes: [uniqueStream('nobody')],
      maxSearchWindow: 10,
      checkpointInterval: 2,
      checkpointReached: async (_, { commit }) => {
        checkpoints.push(commit)
      },
    })
    const subscription = client.subscribeToAll({ fromPosition: start, filter })
    subscription.resume()
    await expect.poll(() => checkpoints.length).toBeGreaterThanOrEqual(10)
    expect(checkpoints).toStrictEqual(checkpoints.toSorted((a, b) => Number(a - b)))
    expect(checkpoints.every((position) => position > start.commit)).toBe(true)
    await subscription.unsubscribe()
  })

  test('nothing is lost or repeated when a subscriber resumes from its last event', async () => {
    const start = await endOfLog()
    const stream = uniqueStream()
    const filter = streamNameFilter({ prefixes: [stream] })
    const writing = (async () => {
      for (let n = 0; n < 100; n += 1) await client.appendToStream(stream, numberedUpTo(3))
    })()
    const seen: string[] = []
    let fromPosition = start
    while (seen.length < 300) {
      const subscription = client.subscribeToAll({ fromPosition, filter })
      let taken = 0
      for await (const { event } of subscription) {
        if (!event) continue
        seen.push(`${event.revision}@${event.streamId}`)
        fromPosition = event.position
        taken += 1
        if (taken === 60) break
      }
    }
    await writing
    expect(seen).toStrictEqual(named(stream, 0, 300))
  })

  test('a slow subscriber misses nothing', async () => {
    const start = await endOfLog()
    const stream = uniqueStream()
    const filter = streamNameFilter({ prefixes: [stream] })
    const subscription = client.subscribeToAll({ fromPosition: start, filter }, { highWaterMark: 1 })
    await client.appendToStream(stream, numberedUpTo(1_000))
    await delay(50)
    await client.appendToStream(stream, numberedUpTo(1_000))
    expect(await next(subscription, 2_000)).toStrictEqual(named(stream, 0, 2_000))
    await subscription.unsubscribe()
  })
})
