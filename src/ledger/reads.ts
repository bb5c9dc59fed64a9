import type { StreamingRead } from '@eventstore/db-client'
import { TimeoutError } from '../async/timeout.ts'
import type { Node } from './connection/connection.ts'
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
