import { TimeoutError } from '../async/timeout.ts'
import type { Connection } from './connection.ts'
import type { NodeClient } from './node-client.ts'
import { LedgerUnavailable } from './unavailable.ts'

/** Of the whole log, or of one stream. */
type Subscription<E> = AsyncIterable<E> & {
  destroy(error?: Error): unknown
  unsubscribe(): Promise<void>
  on(event: 'error', listener: () => void): unknown
  once(event: 'confirmation', listener: () => void): unknown
}

/**
 * What a subscription hands out, until the signal aborts. It ends with an error when its connection breaks or another
 * client takes the place of its own; a connection that hangs is found out by gRPC's keep-alive.
 * @param confirmMs how long the store may take to confirm the subscription
 * @throws LedgerUnavailable
 */
export async function* subscribed<E>(
  connection: Connection,
  begin: (client: NodeClient) => Subscription<E>,
  signal: AbortSignal,
  confirmMs: number,
): AsyncIterable<E> {
  const node = await connection.node(confirmMs)
  const subscription = begin(node.client)
  const end = (error?: Error) => {
    subscription.destroy(error)
    void subscription.unsubscribe().catch(() => undefined)
  }
  const stop = () => end()
  const moveOver = () => end(new LedgerUnavailable('the subscription is moving to another connection'))
  const unconfirmed = setTimeout(() => end(new TimeoutError(confirmMs)), confirmMs)
  // It may report a failure again after its reader has gone, which nobody would hear.
  subscription.on('error', () => undefined)
  subscription.once('confirmation', () => {
    clearTimeout(unconfirmed)
    node.answered()
  })
  signal.addEventListener('abort', stop, { once: true })
  node.replaced.addEventListener('abort', moveOver, { once: true })
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
