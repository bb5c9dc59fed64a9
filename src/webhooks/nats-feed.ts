import { setTimeout } from 'node:timers/promises'
import type { ConnectionOptions, JsMsg, NatsConnection } from 'nats'
import { z } from 'zod'
import { Channel } from '../domain/deliveries/events.ts'
import { type DispatchFeed, type Handler, jobName } from './feed.ts'

const Job = z.object({
  deliveryId: z.string(),
  attempt: z.int().positive(),
  channel: Channel,
  tenantId: z.string(),
  endpointId: z.string().nullable().default(null),
})

/**
 * A job without a sign of life for this long is handed to another process. An attempt may take longer, so its
 * process signals regularly; the jobs of a dead process are then not delayed by the time limit of an attempt.
 */
const ackWaitDefaultMs = 6000
/** How long NATS recognizes a job that is published twice. */
const duplicateWindowMs = 30_000
/** Publishers publish again, so old jobs need not be kept. */
const maxAgeMs = 600_000
/** Over all processes; more than are ever made concurrently. */
const maxUnacknowledged = 5000
const fetchMs = 2000

const nanos = (milliseconds: number): number => milliseconds * 1_000_000

/**
 * A feed through a JetStream work queue: any number of processes publish and consume. NATS holds only copies:
 * a lost stream is created again, and filled with what is due.
 * @param connection undefined while NATS is not available
 * @param name the name of the stream, so that several ledgers can share a NATS
 */
export function createNatsFeed(
  connection: () => NatsConnection | undefined,
  name: string,
  {
    pauseMs = 1000,
    ackWaitMs = ackWaitDefaultMs,
    onFailure,
  }: { pauseMs?: number; ackWaitMs?: number; onFailure: (error: unknown) => void },
): DispatchFeed {
  const subject = `${name}.due`
  let ready: { on: NatsConnection; made: Promise<void> } | undefined

  function connected(): NatsConnection {
    const nats = connection()
    if (!nats) throw new Error('NATS is not connected')
    return nats
  }

  /** Creates the stream and its consumer once per connection, and again after a failure. */
  function prepared(nats: NatsConnection): Promise<void> {
    if (ready?.on !== nats) ready = { on: nats, made: prepare(nats) }
    return ready.made
  }

  async function prepare(nats: NatsConnection): Promise<void> {
    const { AckPolicy, RetentionPolicy } = await import('nats')
    const manager = await nats.jetstreamManager()
    const settings = {
      subjects: [subject],
      duplicate_window: nanos(duplicateWindowMs),
      max_age: nanos(maxAgeMs),
    }
    await manager.streams.add({ name, retention: RetentionPolicy.Workqueue, ...settings })
    await manager.consumers.add(name, {
      durable_name: name,
      ack_policy: AckPolicy.Explicit,
      ack_wait: nanos(ackWaitMs),
      max_ack_pending: maxUnacknowledged,
    })
  }

  return {
    async publish(jobs) {
      try {
        const nats = connected()
        await prepared(nats)
        const stream = nats.jetstream()
        const published = jobs.map((job) =>
          stream.publish(subject, JSON.stringify(job), { msgID: jobName(job) }),
        )
        const failed = (await Promise.allSettled(published)).find(({ status }) => status === 'rejected')
        if (failed?.status === 'rejected') throw failed.reason
      } catch (error) {
        ready = undefined
        throw error
      }
    },
    async consume(handler, atOnce, signal) {
      const slots = createSlots(atOnce)
      const held = new Set<JsMsg>()
      const heartbeat = setInterval(() => {
        for (const message of held) acknowledge(() => message.working())
      }, ackWaitMs / 3)
      while (!signal.aborted) {
        try {
          const nats = connected()
          await prepared(nats)
          await takeBatch(nats, name, slots, (message) => handle(message, handler, pauseMs, held), signal)
        } catch (error) {
          ready = undefined
          if (!signal.aborted) onFailure(error)
          await setTimeout(pauseMs, undefined, { signal }).catch(() => undefined)
        }
      }
      await slots.allFree()
      clearInterval(heartbeat)
    },
  }
}

async function handle(message: JsMsg, handler: Handler, pauseMs: number, held: Set<JsMsg>): Promise<void> {
  held.add(message)
  const handling = (async () => handler(Job.parse(JSON.parse(message.string()))))()
  const isDone = await handling.then(
    () => true,
    () => false,
  )
  held.delete(message)
  acknowledge(() => (isDone ? message.ack() : message.nak(pauseMs)))
}

/** An acknowledgement that fails because the connection was closed: NATS hands the job out again. */
function acknowledge(send: () => void): void {
  try {
    send()
  } catch {
    return
  }
}

async function takeBatch(
  nats: NatsConnection,
  name: string,
  slots: Slots,
  handleOne: (message: JsMsg) => Promise<void>,
  signal: AbortSignal,
): Promise<void> {
  const free = await slots.someFree()
  const consumer = await nats.jetstream().consumers.get(name, name)
  const messages = await consumer.fetch({ max_messages: free, expires: fetchMs })
  const stop = () => void messages.close()
  signal.addEventListener('abort', stop, { once: true })
  try {
    for await (const message of messages) slots.run(() => handleOne(message))
  } finally {
    signal.removeEventListener('abort', stop)
  }
}

type Slots = ReturnType<typeof createSlots>

/** Limits concurrency; more jobs are requested only when a good part of the slots is free. */
function createSlots(most: number) {
  let free = most
  let changed = Promise.withResolvers<void>()
  const until = async (enough: number) => {
    while (free < enough) await changed.promise
    return free
  }
  return {
    someFree: () => until(Math.ceil(most / 4)),
    allFree: () => until(most),
    run(work: () => Promise<void>): void {
      free--
      void work().finally(() => {
        free++
        changed.resolve()
        changed = Promise.withResolvers()
      })
    },
  }
}

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
