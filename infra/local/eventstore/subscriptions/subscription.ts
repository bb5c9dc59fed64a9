import { randomUUID } from 'node:crypto'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { EventStore } from '../engine/event-store.ts'
import type { RecordedEvent } from '../storage/event.ts'
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
  await new Subscription(store, call, request, signal).run(feed)
  if (shutdown.aborted) throw shuttingDown()
}

class Subscription {
  readonly #store: EventStore
  readonly #call: ReadCall
  readonly #request: ReadRequest
  readonly #signal: AbortSignal
  /** Events checked by the filter since the last checkpoint. */
  #considered = 0
  #live = false

  constructor(store: EventStore, call: ReadCall, request: ReadRequest, signal: AbortSignal) {
    this.#store = store
    this.#call = call
    this.#request = request
    this.#signal = signal
  }

  async run(feed: Feed): Promise<void> {
    await this.#send(encodeConfirmation(randomUUID()))
    while (!this.#signal.aborted) {
      const { version } = this.#store.commits
      const page = feed.next(this.#live)
      if (!page.atEnd) await this.#fallBehind()
      for (const event of page.events) {
        await this.#consider(event)
        if (this.#signal.aborted) return
      }
      if (page.atEnd) {
        await this.#goLive(feed.cursor)
        await this.#store.commits.after(version, this.#signal)
      } else {
        // A filter may skip whole pages without waiting for the socket; other work must be able to run.
        await nextTurn()
      }
    }
  }

  async #consider(event: RecordedEvent): Promise<void> {
    const { filter, resolveLinks, structuredIds } = this.#request
    if (!filter || filter.matches(event)) {
      const resolved = resolveEvent(this.#store.log, event, resolveLinks)
      await this.#send(encodeEvent(resolved, structuredIds))
    }
    if (!filter) return
    this.#considered += 1
    if (this.#considered >= filter.checkpointInterval) await this.#checkpoint(event.position)
  }

  /** Sends the filter's position, so that a subscriber need not restart from the last match. */
  async #checkpoint(position: number): Promise<void> {
    this.#considered = 0
    await this.#send(encodeCheckpoint(position))
  }

  async #goLive(cursor: number): Promise<void> {
    if (this.#live) return
    this.#live = true
    if (this.#request.filter) await this.#checkpoint(cursor)
    await this.#send(caughtUp)
  }

  async #fallBehind(): Promise<void> {
    if (!this.#live) return
    this.#live = false
    await this.#send(fellBehind)
  }

  async #send(message: Uint8Array): Promise<void> {
    if (!this.#call.write(message)) await drained(this.#call)
  }
}
