import { connect, type NatsConnection } from 'nats'

/** The connection to NATS, which feeds the dispatcher. It may be down at any time: nothing is kept there alone. */
export type Feed = { isConnected(): boolean; close(): Promise<void> }

/** Connects in the background, and again whenever the connection is lost. */
export function connectFeed(url: string, onFailure: (error: unknown) => void): Feed {
  let connection: NatsConnection | undefined
  let closed = false
  const connecting = connect({
    servers: url,
    name: 'keyledger',
    waitOnFirstConnect: true,
    maxReconnectAttempts: -1,
  })
    .then(async (made) => {
      connection = made
      if (closed) await made.close()
    })
    .catch(onFailure)
  return {
    isConnected: () => connection !== undefined && !connection.isClosed() && connection.stats().inMsgs >= 0,
    async close() {
      closed = true
      if (connection) await connection.close()
      else void connecting
    },
  }
}
