import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from 'pino'
import { collectDefaultMetrics, Registry } from 'prom-client'
import type { ReadModels } from '../../../projections/runner/read-models.ts'
import { fingerprint } from '../../../projections/runner/schema.ts'
import { CommandRefused } from '../../terminal/exit-codes.ts'
import { createMeasurements } from './measured.ts'
import type { Start } from './messages.ts'
import { restartDelayMs, youngDeathsAfter } from './restarts.ts'
import { forkWorker, type Message, type WorkerProcess } from './worker-process.ts'

/** The workers' own limit for running requests is shorter than this. */
const longestStopMs = 14_000
/** A worker that still has clients after this time continues to drain while the next one is replaced. */
const longestDrainMs = 10_000

export type Workers = {
  /**
   * Sends the workers what they need to serve.
   * @returns the URL, once the first of them listens
   * @throws CommandRefused when none can listen
   */
  begin(start: Omit<Start, 'kind' | 'workers' | 'fingerprint'>, readModels: ReadModels): Promise<string>
  /** Replaces the workers one at a time: each new one listens before the old one drains. */
  replaceAll(): Promise<void>
  /** Ends all workers after their running requests have finished. */
  stop(): Promise<void>
}

/**
 * Starts `count` processes that answer HTTP on one port, and restarts those that die. They load their code at once,
 * and serve after {@link Workers.begin}.
 */
export function startWorkers(count: number, log: Logger): Workers {
  const refused = Promise.withResolvers<never>()
  refused.promise.catch(() => undefined)
  let begun: { message: Start; readModels: ReadModels } | undefined
  const handlers = createWorkerHandlers(
    log,
    () => [...pool.workers.values()],
    () => begun?.readModels,
    (message) => refused.reject(new CommandRefused(message)),
  )
  const pool = createWorkerPool(count, log, handlers, (member) => begun && member.send(begun.message))
  let replacing: Promise<void> | undefined

  return {
    async begin(start, readModels) {
      begun = { message: { kind: 'start', workers: count, fingerprint, ...start }, readModels }
      const members = [...pool.workers.values()]
      for (const member of members) member.send(begun.message)
      return Promise.race([refused.promise, Promise.any(members.map(({ listening }) => listening))])
    },
    replaceAll() {
      replacing ??= pool.replaceAll().finally(() => {
        replacing = undefined
      })
      return replacing
    },
    stop: () => pool.stop(),
  }
}

type WorkerHandlers = {
  onMessage(member: WorkerProcess, message: Message): void
  onEnded(member: WorkerProcess): void
}

/** Handles the messages of the workers. */
function createWorkerHandlers(
  log: Logger,
  members: () => readonly WorkerProcess[],
  readModels: () => ReadModels | undefined,
  onRefused: (message: string) => void,
): WorkerHandlers {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })
  const measurements = createMeasurements(
    registry,
    () => members().map(({ id }) => id),
    (worker, id) =>
      members()
        .find((member) => member.id === worker)
        ?.send({ kind: 'measure', id }),
  )
  let hasServed = false
  return {
    onMessage(member, message) {
      switch (message.kind) {
        case 'listening':
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
  }
}

type WorkerPool = {
  workers: ReadonlyMap<number, WorkerProcess>
  replaceAll(): Promise<void>
  stop(): Promise<void>
}

/** Keeps `count` workers running, and calls `onForked` for each new one. */
function createWorkerPool(
  count: number,
  log: Logger,
  { onMessage, onEnded }: WorkerHandlers,
  onForked: (member: WorkerProcess) => void,
): WorkerPool {
  const workers = new Map<number, WorkerProcess>()
  let stopping = false
  let youngDeaths = 0
  let pending = 0
  const serving = () => [...workers.values()].filter(({ isLeaving }) => !isLeaving)

  function fork(): WorkerProcess {
    const startedAt = performance.now()
    const member = forkWorker(onMessage)
    workers.set(member.id, member)
    onForked(member)
    void member.ended.then((how) => {
      workers.delete(member.id)
      onEnded(member)
      if (stopping || member.isLeaving) return
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
      // A replacement that died before it listened is not restarted: the old worker still serves.
      if (!stopping && serving().length + pending < count) fork()
    }, delayMs)
  }

  async function replace(old: WorkerProcess): Promise<void> {
    await fork().listening
    old.isLeaving = true
    old.send({ kind: 'drain' })
    await Promise.race([old.ended, sleep(longestDrainMs, undefined, { ref: false })])
  }

  for (let started = 0; started < count; started++) fork()
  return {
    workers: workers,
    async replaceAll() {
      log.info('Replacing the workers one by one')
      try {
        for (const member of serving()) if (!stopping) await replace(member)
        if (!stopping) log.info('The workers were replaced')
      } catch (err) {
        log.error({ err }, 'worker.not_replaced')
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
