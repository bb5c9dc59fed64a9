// A process that answers HTTP, one of several. Its parent starts it, sends it the URLs of the stores and advances
// the read models for it. When the parent dies, the worker ends at once: the stores may be gone, and no process
// would replace it.
import { once } from 'node:events'
import { Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import closeWithGrace from 'close-with-grace'
import type { Logger } from 'pino'
import { Registry } from 'prom-client'
import { fingerprint } from '../../../projections/runner/schema.ts'
import type { Metrics } from '../../api/system/metrics.ts'
import { createUndo } from '../../async/undo.ts'
import { isStoreFailure } from '../../commands/store-failure.ts'
import { type Config, parseConfig } from '../../config.ts'
import { takeConnections } from '../../http/listening.ts'
import { CommandRefused } from '../../terminal/exit-codes.ts'
import { openApi } from '../api.ts'
import { limitYoungGeneration } from '../heap.ts'
import { createLog } from '../log.ts'
import { connectNats } from '../server.ts'
import { readMasterKey } from '../start/master-key-file.ts'
import { connectStores } from '../stores.ts'
import { type DelegatedReadModels, delegateAdvancing } from './advancing.ts'
import { type FromWorker, Measured, type Start, ToWorker, type WorkersStatus } from './messages.ts'
import { connectionsOfWorker } from './sizes.ts'
import { workersHealth } from './workers-health.ts'

/** How long running requests may take to finish; the parent waits slightly longer. */
const drainMs = 13_000
/** How long a store may be gone while this process starts. */
const longestWaitMs = 30_000
const retryMs = 250

// The channel to the parent closes when the parent dies.
process.once('disconnect', () => process.exit(0))

type Worker = { drain(): Promise<void>; stop(): Promise<void> }

limitYoungGeneration()
const config = parseConfig(process.env)
const log = createLog(config.logLevel, { buffered: true, worker: process.pid })
const start = await startMessage()
process.on('message', endBeforeServing)
const starting = begin()
const grace = closeWithGrace(
  // Only the parent ends a worker: a terminal sends Ctrl-C and SIGHUP to every process.
  { delay: drainMs, logger: false, skip: ['SIGINT', 'SIGHUP'] },
  async ({ err }) => {
    if (err) log.fatal({ err }, 'process.failed')
    await (await starting.catch(() => undefined))?.stop()
    log.flush()
  },
)
for (const signal of ['SIGINT', 'SIGHUP'] as const) process.on(signal, () => undefined)
await starting.catch(async (error: unknown) => {
  if (!(error instanceof CommandRefused)) log.error({ err: error }, 'worker.not_started')
  await send({ kind: 'refused', message: error instanceof Error ? error.message : String(error) })
  grace.close()
})

async function startMessage(): Promise<Start> {
  const messages: unknown[] = await once(process, 'message')
  const first = ToWorker.parse(messages[0])
  if (first.kind === 'start') return first
  // It is stopped before it has started.
  process.exit(0)
}

/** Until it serves, it has no request to answer: it ends at once when it is to stop, also while a store does not answer. */
function endBeforeServing(message: unknown): void {
  const { kind } = ToWorker.parse(message)
  if (kind !== 'stop' && kind !== 'drain') return
  log.info('Ending before serving')
  log.flush()
  process.exit(0)
}

/** @returns once the message is sent, so that this process may end */
function send(message: FromWorker): Promise<void> {
  return new Promise((resolve) => process.send?.(message, () => resolve()))
}

/** Starts the work, again while a store does not answer: it did for the parent, and a connection may end at any time. */
async function begin(): Promise<Worker> {
  for (const until = performance.now() + longestWaitMs; ; await sleep(retryMs)) {
    try {
      return await work(config, start, log)
    } catch (error) {
      if (!isStoreFailure(error) || performance.now() > until) throw error
      log.warn({ err: error }, 'worker.starts_again')
    }
  }
}

async function work(given: Config, message: Start, log: Logger): Promise<Worker> {
  const { port, workers, databaseUrl, eventstoreUrl } = message
  if (message.fingerprint !== fingerprint) {
    throw new CommandRefused('keyledger was replaced by another version. Restart it.')
  }
  const most = Math.ceil(given.connections.most / workers)
  const config = { ...given, port, connections: { ...given.connections, most } }
  let readModels: DelegatedReadModels | undefined
  const stores = await connectStores(config, readMasterKey(given), { databaseUrl, eventstoreUrl }, log, {
    connections: connectionsOfWorker(workers),
    prepare: false,
    // The parent detects the same and ends all workers; until then the ledger rejects every call.
    supervise: { onWrongLog: (error) => log.fatal({ err: error }, 'log.wrong') },
    advancing: (own, ledger) => {
      readModels = delegateAdvancing(
        own,
        ledger,
        (position) => void send({ kind: 'advance', position: String(position) }),
      )
      return readModels
    },
  })
  const feed = connectNats(config, log)
  const metrics = measureWithOthers()
  const undo = createUndo()
  undo.push(() => stores.close())
  if (feed) undo.push(() => feed.close())
  try {
    let status: WorkersStatus | undefined
    const health = () => status && workersHealth(status, stores.ports.now())
    const api = await openApi(config, stores, log, feed, { metrics, health })
    undo.push(() => api.leave())
    const connections = takeConnections(api.app)
    undo.push(() => metrics.send(-1))
    undo.push(() => connections.close())
    const worker: Worker = {
      drain: () => connections.drain(config.connections.idleMs + drainMs),
      stop: undo.run,
    }
    process.off('message', endBeforeServing)
    process.on('message', (message, handle) => {
      const received = ToWorker.parse(message)
      if (received.kind === 'connection') {
        // Undefined when the client has closed it meanwhile.
        if (handle instanceof Socket) connections.take(handle)
      } else if (received.kind === 'advanced') readModels?.onAdvanced(received.position)
      else if (received.kind === 'status') status = received.status
      else if (received.kind === 'measure') void metrics.send(received.id)
      else if (received.kind === 'metrics') metrics.onText(received.id, received.text)
      else if (received.kind === 'drain') void worker.drain().then(() => grace.close())
      else if (received.kind === 'stop') grace.close()
    })
    log.info('Serving')
    await send({ kind: 'serving' })
    return worker
  } catch (error) {
    await undo.run().catch((err: unknown) => log.warn({ err }, 'stop.incomplete'))
    throw error
  }
}

type SharedMetrics = Metrics & {
  /** Sends the metrics of this process to the parent. */
  send(id: number): Promise<void>
  onText(id: number, text: string): void
}

/** Measures this process, and reads the sum over all processes from the parent. */
function measureWithOthers(): SharedMetrics {
  const registry = new Registry()
  const awaiting = new Map<number, (text: string) => void>()
  let ids = 0
  return {
    registry,
    read() {
      const { promise, resolve } = Promise.withResolvers<string>()
      const id = ids++
      awaiting.set(id, resolve)
      void send({ kind: 'read-metrics', id })
      return promise
    },
    async send(id) {
      await send({ kind: 'measured', id, metrics: Measured.parse(await registry.getMetricsAsJSON()) })
    },
    onText(id, text) {
      awaiting.get(id)?.(text)
      awaiting.delete(id)
    },
  }
}
