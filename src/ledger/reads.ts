import type { StreamingRead } from '@eventstore/db-client'
import { TimeoutError } from '../async/timeout.ts'
import type { Node } from './connection.ts'
import { LedgerUnavailable } from './unavailable.ts'

/**
 * Everything that a read comes to. The client gives reads no deadline.
 * @param idleMs how long to wait for each next event
 * @throws TimeoutError when none comes; what the client throws
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
      // It may report a failure again, which nobody would hear.
      .on('error', fail)
  })
}
