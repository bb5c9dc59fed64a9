import type { Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from 'pino'
import { Counter, collectDefaultMetrics, Registry } from 'prom-client'
import type { ReadModels } from '../../../projections/runner/read-models.ts'
import { fingerprint } from '../../../projections/runner/schema.ts'
import { CommandRefused } from '../../terminal/exit-codes.ts'
import { whyNotListening } from '../start/own-address.ts'
import { type Door, openDoor } from './door.ts'
import { createMeasurements } from './measured.ts'
import type { Start, WorkersStatus } from './messages.ts'
import {
  forkWorker,
  type Message,
  restartDelayMs,
  type WorkerProcess,
  youngDeathsAfter,
} from './worker-process.ts'

/** The workers' own limit for running requests is shorter than this. */
const longestStopMs = 14_000
/** A worker that still has clients after this time continues to drain while the next one is replaced. */
const longestDrainMs = 10_000

export type Workers = {
  /**
   * Sends the workers what they need to serve, and listens once the first of them can answer.
   * @param host where to listen, on the port of `start`
   * @returns the URL
   * @throws CommandRefused when no worker can serve, or the port cannot be listened on
   */
  begin(
    host: string,
    start: Omit<Start, 'kind' | 'workers' | 'fingerprint'>,
    readModels: ReadModels,
  ): Promise<string>
  /** Replaces the workers one at a time: each new one serves before the old one drains. */
  replaceAll(): Promise<void>
  /** Ends all workers after their running requests have finished. */
  stop(): Promise<void>
}

/**
 * Starts `count` processes that answer HTTP on one port, and restarts those that die. They load their code at once,
 * and serve after {@link Workers.begin}. This process owns the port and hands each connection to the next worker; while
 * none serves, it answers 503 itself.
 * @param isMonitored whether a monitor reads their metrics
 */
export function startWorkers(count: number, log: Logger, isMonitored: boolean): Workers {
  const refused = Promise.withResolvers<never>()
  refused.promise.catch(() => undefined)
  let running: { message: Start; readModels: ReadModels } | undefined
  const handlers = createWorkerHandlers(
    log,
    () => [...pool.workers.values()],
    () => running?.readModels,
    (message) => refused.reject(new CommandRefused(message)),
    isMonitored,
  )
  const pool = createWorkerPool(count, log, handlers, (member) => running && member.send(running.message))
  let replacing: Promise<void> | undefined
  let door: Door | undefined

  return {
    async begin(host, start, readModels) {
      running = { message: { kind: 'start', workers: count, fingerprint, ...start }, readModels }
      const members = [...pool.workers.values()]
      for (const member of members) member.send(running.message)
      await Promise.race([refused.promise, Promise.any(members.map(({ serving }) => serving))])
      const target = { host, port: start.port }
      door = await openDoor(target, pool.give).catch((error: unknown) => {
        throw new CommandRefused(whyNotListening(error, target))
      })
      return door.address
    },
    replaceAll() {
      replacing ??= pool.replaceAll().finally(() => {
        replacing = undefined
      })
      return replacing
    },
    stop() {
      door?.close()
      return pool.stop()
    },
  }
}

type WorkerHandlers = {
  onMessage(member: WorkerProcess, message: Message): void
  onEnded(member: WorkerProcess): void
  /** A worker has ended although it should serve. */
  onDeath(): void
}

/** Handles the messages of the workers. */
function createWorkerHandlers(
  log: Logger,
  members: () => readonly WorkerProcess[],
  readModels: () => ReadModels | undefined,
  onRefused: (message: string) => void,
  isMonitored: boolean,
): WorkerHandlers {
  const registry = new Registry()
  if (isMonitored) collectDefaultMetrics({ register: registry })
  const measurements = createMeasurements(
    registry,
    () => members().map(({ id }) => id),
    (worker, id) =>
      members()
        .find((member) => member.id === worker)
        ?.send({ kind: 'measure', id }),
  )
  const deaths = new Counter({
    name: 'keyledger_worker_deaths_total',
    help: 'Worker processes that ended by themselves or were killed',
    registers: [registry],
  })
  let hasServed = false
  return {
    onMessage(member, message) {
      switch (message.kind) {
        case 'serving':
          hasServed = true
          return
        case 'refused':
          // Before that, the command ends with this message.
          if (hasServed) log.error({ pid: member.pid, problem: message.message }, 'worker.refused')
          return onRefused(message.message)
        case 'advance': {
          const { position } = message
          readModels()
            ?.advanceTo(position)
            .then(() => member.send({ kind: 'advanced', position: String(position) }))
            // The worker then advances the read models itself, and reports the error.
            .catch(() => undefined)
          return
        }
        case 'measured':
          return measurements.onMeasured(member.id, message.id, message.metrics)
        case 'read-metrics':
          void measurements.read().then((text) => member.send({ kind: 'metrics', id: message.id, text }))
      }
    },
    onEnded: ({ id }) => measurements.onEnded(id),
    onDeath: () => deaths.inc(),
  }
}

type WorkerPool = {
  workers: ReadonlyMap<number, WorkerProcess>
  /** Hands a connection to the next worker. @returns whether one serves */
  give(connection: Socket): boolean
  replaceAll(): Promise<void>
  stop(): Promise<void>
}

/** Keeps `count` workers running, and calls `onForked` for each new one. */
function createWorkerPool(
  count: number,
  log: Logger,
  { onMessage, onEnded, onDeath }: WorkerHandlers,
  onForked: (member: WorkerProcess) => void,
): WorkerPool {
  const workers = new Map<number, WorkerProcess>()
  let stopping = false
  let youngDeaths = 0
  let pending = 0
  let turn = 0
  const status: WorkersStatus = { wanted: count, serving: 0, deaths: 0 }
  const staying = () => [...workers.values()].filter(({ isLeaving }) => !isLeaving)
  const serving = () => staying().filter(({ isServing }) => isServing)

  /** Tells all workers how many of them serve: each answers for all. */
  function tell(): void {
    status.serving = serving().length
    for (const member of workers.values()) member.send({ kind: 'status', status })
  }

  function fork(): WorkerProcess {
    const startedAt = performance.now()
    const member = forkWorker((from, message) => {
      onMessage(from, message)
      if (message.kind === 'serving') tell()
    })
    workers.set(member.id, member)
    onForked(member)
    void member.ended.then((how) => {
      workers.delete(member.id)
      onEnded(member)
      if (stopping || member.isLeaving) return
      status.deaths++
      status.lastDeath = { at: new Date().toISOString(), how: String(how) }
      onDeath()
      tell()
      youngDeaths = youngDeathsAfter(youngDeaths, performance.now() - startedAt)
      forkAfter(restartDelayMs(youngDeaths), member, how)
    })
    return member
  }

  function forkAfter(delayMs: number, { pid }: WorkerProcess, how: string | number): void {
    log.error({ pid, exit: how, delay_ms: delayMs }, 'worker.died')
    pending++
    setTimeout(() => {
      pending--
      // A replacement that died before it served is not restarted: the old worker still serves.
      if (!stopping && staying().length + pending < count) fork()
    }, delayMs)
  }

  async function replace(old: WorkerProcess): Promise<void> {
    await fork().serving
    old.isLeaving = true
    old.send({ kind: 'drain' })
    await Promise.race([old.ended, sleep(longestDrainMs, undefined, { ref: false })])
  }

  for (let started = 0; started < count; started++) fork()
  return {
    workers,
    give(connection) {
      const ready = serving()
      const next = ready[turn++ % ready.length]
      next?.take(connection)
      return next !== undefined
    },
    async replaceAll() {
      log.info('Replacing the workers one by one')
      try {
        for (const member of staying()) if (!stopping) await replace(member)
        if (!stopping) log.info('The workers were replaced')
      } catch (err) {
        if (!stopping) log.error({ err }, 'worker.not_replaced')
      }
    },
    async stop() {
      stopping = true
      const last = [...workers.values()]
      for (const member of last) member.send({ kind: 'stop' })
      const late = setTimeout(() => {
        for (const member of last) member.kill()
      }, longestStopMs)
      await Promise.all(last.map(({ ended }) => ended))
      clearTimeout(late)
    },
  }
}
