import { setTimeout } from 'node:timers/promises'
import type { ConnectionOptions, NatsConnection } from 'nats'

/** The connection to NATS for the dispatcher. It may be down at any time: NATS holds only copies. */
export type Feed = {
  isConnected(): boolean
  /** Undefined until the first connection. */
  connection(): NatsConnection | undefined
  /** Resolves when the first attempt to connect has ended, successfully or not. */
  firstTry: Promise<void>
  close(): Promise<void>
}

const retryAfterMs = 1000

/** Connects in the background, and again whenever the connection is lost. */
export function connectFeed(url: string, onFailure: (error: unknown) => void): Feed {
  const closing = new AbortController()
  let connection: NatsConnection | undefined
  let connected = false

  async function tryToConnect(): Promise<void> {
    try {
      // Loaded only if NATS is configured: most ledgers run without.
      const { connect } = await import('nats')
      const how = { name: 'keyledger', maxReconnectAttempts: -1, timeout: 2000 }
      connection = await connect({ ...optionsOf(url), ...how })
      connected = true
      void watch(connection)
    } catch (error) {
      onFailure(error)
    }
  }

  async function watch(made: NatsConnection): Promise<void> {
    for await (const { type } of made.status()) {
      if (type === 'disconnect') connected = false
      if (type === 'reconnect') connected = true
    }
  }

  const firstTry = tryToConnect()
  const connecting = firstTry.then(async () => {
    while (connection === undefined && !closing.signal.aborted) {
      await setTimeout(retryAfterMs, undefined, { signal: closing.signal }).catch(() => undefined)
      if (!closing.signal.aborted) await tryToConnect()
    }
  })

  return {
    isConnected: () => connected,
    connection: () => connection,
    firstTry,
    async close() {
      closing.abort()
      await connecting
      await connection?.close()
    },
  }
}

/**
 * The options in a URL. The client ignores a URL's user and password, and does not enforce TLS for `tls://`.
 * @param url `nats://` or `tls://`, with `user:password@` or, as is usual with NATS, a token alone: `token@`
 */
export function optionsOf(url: string): ConnectionOptions {
  if (!URL.canParse(url)) return { servers: url }
  const { protocol, host, username, password } = new URL(url)
  const [user, pass] = [decodeURIComponent(username), decodeURIComponent(password)]
  const credentials = password === '' ? { token: user } : { user, pass }
  return { servers: host, ...(user !== '' && credentials), ...(protocol === 'tls:' && { tls: {} }) }
}
