import { TimeoutError } from '../async/timeout.ts'
import type { Connection } from './connection/connection.ts'
import type { NodeClient } from './connection/node-client.ts'
import { LedgerUnavailable } from './connection/unavailable.ts'

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
