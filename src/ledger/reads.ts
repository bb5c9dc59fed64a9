import type { StreamingRead } from '@eventstore/db-client'
import { TimeoutError } from '../async/timeout.ts'
import type { Connection, Node } from './connection/connection.ts'
import type { NodeClient } from './connection/node-client.ts'
import { LedgerUnavailable } from './connection/unavailable.ts'

/**
 * Collects all events of a read. The client sets no deadline on reads.
 * @param idleMs how long to wait for each next event
 * @throws TimeoutError when no event comes in time; the client's errors
 */
export function collect<E>(read: StreamingRead<E>, node: Node, idleMs: number): Promise<E[]> {
  return new Promise((resolve, reject) => {
    const events: E[] = []
    const settle = () => {
      clearTimeout(idle)
      node.onEnd.delete(end)
    }
    const fail = (error: Error) => {
      settle()
      reject(error)
    }
    const giveUp = (error: Error) => {
      fail(error)
      read.destroy()
      read.cancel().catch(() => undefined)
    }
    const end = () => giveUp(new LedgerUnavailable('the connection has ended', undefined, 'unreachable'))
    const idle = setTimeout(() => giveUp(new TimeoutError(idleMs)), idleMs)
    node.onEnd.add(end)
    read
      .on('data', (event: E) => {
        events.push(event)
        idle.refresh()
      })
      .once('end', () => {
        settle()
        resolve(events)
      })
      // Stays registered: the client may emit an error twice, and an unhandled one would end the process.
      .on('error', fail)
  })
}

/** A subscription of the client, to the whole log or to one stream. */
type Subscription<E> = AsyncIterable<E> & {
  destroy(error?: Error): unknown
  unsubscribe(): Promise<void>
  on(event: 'error', listener: () => void): unknown
  once(event: 'confirmation', listener: () => void): unknown
}

/**
 * Yields the events of a subscription until the signal aborts. It throws when its connection breaks or is
 * replaced. gRPC's keep-alive detects a connection that hangs.
 * @param confirmMs how long the store may take to confirm the subscription
 * @throws LedgerUnavailable when no node is found, the subscription is not confirmed in time, or the connection
 *   ends
 */
export async function* subscribed<E>(
  connection: Connection,
  begin: (client: NodeClient) => Subscription<E>,
  signal: AbortSignal,
  confirmMs: number,
): AsyncIterable<E> {
  const node = await connection.node(confirmMs)
  // A signal that was aborted meanwhile calls no listener any more.
  if (signal.aborted) return
  const subscription = begin(node.client)
  const end = (error?: Error) => {
    subscription.destroy(error)
    void subscription.unsubscribe().catch(() => undefined)
  }
  const stop = () => end()
  const moveOver = () => end(new LedgerUnavailable('the subscription is moving to another connection'))
  const unconfirmed = setTimeout(() => end(new TimeoutError(confirmMs)), confirmMs)
  // The client may emit an error after the reader has gone; an unhandled one would end the process.
  subscription.on('error', () => undefined)
  subscription.once('confirmation', () => {
    clearTimeout(unconfirmed)
    node.answered()
  })
  signal.addEventListener('abort', stop, { once: true })
  node.replaced.addEventListener('abort', moveOver, { once: true })
  if (node.replaced.aborted) moveOver()
  try {
    for await (const event of subscription) {
      node.answered()
      yield event
    }
  } catch (error) {
    if (!signal.aborted) throw connection.reportFailure('the subscription to the log ended', node, error)
  } finally {
    clearTimeout(unconfirmed)
    signal.removeEventListener('abort', stop)
    node.replaced.removeEventListener('abort', moveOver)
    end()
  }
}
