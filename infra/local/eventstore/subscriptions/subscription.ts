import { randomUUID } from 'node:crypto'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { EventStore } from '../engine/event-store.ts'
import type { RecordedEvent } from '../storage/event.ts'
import type { EventLog } from '../storage/event-log.ts'
import { drained, type ReadCall } from '../streams/call.ts'
import { resolveEvent } from '../streams/links.ts'
import type { ReadRequest } from '../streams/read-request.ts'
import { shuttingDown } from '../wire/errors.ts'
import {
  caughtUp,
  encodeCheckpoint,
  encodeConfirmation,
  encodeEvent,
  fellBehind,
} from '../wire/read-response.ts'
import { type Feed, openFeed } from './feed.ts'

/**
 * A subscription reads from the log, and waits for the next commit when there is no more. It does not buffer
 * live events, so there is no gap when it becomes live, and a slow subscriber uses no memory.
 */
export async function subscribe(
  store: EventStore,
  call: ReadCall,
  request: ReadRequest,
  shutdown: AbortSignal,
): Promise<void> {
  const over = new AbortController()
  call.once('cancelled', () => over.abort())
  const signal = AbortSignal.any([over.signal, shutdown])
  const feed = openFeed(store.log, request.target)
  const subscriber = createSubscriber(store.log, call, request)
  await subscriber.confirm()
  await follow(store, feed, subscriber, signal)
  if (shutdown.aborted) throw shuttingDown()
}

async function follow(
  { commits }: EventStore,
  feed: Feed,
  subscriber: Subscriber,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    const { version } = commits
    const page = feed.next(subscriber.isLive)
    if (!page.atEnd) await subscriber.fallBehind()
    for (const event of page.events) {
      await subscriber.consider(event)
      if (signal.aborted) return
    }
    if (page.atEnd) {
      await subscriber.goLive(feed.cursor)
      await commits.after(version, signal)
    } else {
      // A filter may skip whole pages without waiting for the socket; other work must be able to run.
      await nextTurn()
    }
  }
}

type Subscriber = ReturnType<typeof createSubscriber>

/** Sends messages, and waits after each while the client cannot receive more. */
function createSubscriber(log: EventLog, call: ReadCall, request: ReadRequest) {
  const { filter, resolveLinks, structuredIds } = request
  /** Events checked by the filter since the last checkpoint. */
  let considered = 0
  let isLive = false

  async function send(message: Uint8Array): Promise<void> {
    if (!call.write(message)) await drained(call)
  }

  /** Sends the filter's position, so that a subscriber need not restart from the last match. */
  async function checkpoint(position: number): Promise<void> {
    considered = 0
    await send(encodeCheckpoint(position))
  }

  return {
    get isLive() {
      return isLive
    },
    confirm: () => send(encodeConfirmation(randomUUID())),
    async consider(event: RecordedEvent): Promise<void> {
      if (!filter || filter.matches(event)) {
        const resolved = resolveEvent(log, event, resolveLinks)
        await send(encodeEvent(resolved, structuredIds))
      }
      if (!filter) return
      considered += 1
      if (considered >= filter.checkpointInterval) await checkpoint(event.position)
    },
    async goLive(cursor: number): Promise<void> {
      if (isLive) return
      isLive = true
      if (filter) await checkpoint(cursor)
      await send(caughtUp)
    },
    async fallBehind(): Promise<void> {
      if (!isLive) return
      isLive = false
      await send(fellBehind)
    },
  }
}
