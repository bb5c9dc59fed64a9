import { fork } from 'node:child_process'
import type { Socket } from 'node:net'
import { extname, join } from 'node:path'
import { FromWorker, type ToWorker } from './messages.ts'

/** TypeScript in a clone, JavaScript in the npm package, like this file. */
const program = join(import.meta.dirname, `worker${extname(import.meta.filename)}`)

export type Message = ReturnType<(typeof FromWorker)['parse']>

/** A worker as its parent sees it. */
export type WorkerProcess = {
  readonly id: number
  readonly pid: number | undefined
  /** Resolves once it takes connections. Rejects when the worker ends first. */
  readonly serving: Promise<void>
  /** Resolves with the signal or the exit code. */
  readonly ended: Promise<string | number>
  /** Whether it takes connections: it has begun to serve, does not drain, and has not ended. */
  readonly isServing: boolean
  /** It is draining, because another worker takes over. */
  isLeaving: boolean
  send(message: ToWorker): void
  /** Hands a connection over. */
  take(connection: Socket): void
  kill(): void
}

let ids = 0

/** Starts a worker. It loads its code and waits for the message with the URLs of the stores. */
export function forkWorker(
  onMessage: (workerProcess: WorkerProcess, message: Message) => void,
): WorkerProcess {
  const forked = fork(program)
  const serving = Promise.withResolvers<void>()
  // The promise may have no other handler.
  serving.promise.catch(() => undefined)
  const ended = Promise.withResolvers<string | number>()
  let hasBegun = false
  const worker: WorkerProcess = {
    id: ids++,
    pid: forked.pid,
    serving: serving.promise,
    ended: ended.promise,
    get isServing() {
      return hasBegun && forked.connected && !worker.isLeaving
    },
    isLeaving: false,
    send(message) {
      // A worker that is ending receives no more messages.
      if (forked.connected) forked.send(message, () => undefined)
    },
    take(connection) {
      forked.send({ kind: 'connection' } satisfies ToWorker, connection, (error) => {
        if (error) connection.destroy()
      })
    },
    kill: () => void forked.kill('SIGKILL'),
  }
  forked.on('message', (message) => {
    const received = FromWorker.parse(message)
    if (received.kind === 'serving') {
      hasBegun = true
      serving.resolve()
    }
    onMessage(worker, received)
  })
  // A message that cannot be sent any more is followed by `exit`; a worker that cannot be started has none.
  forked.on('error', (error) => {
    if (forked.pid === undefined) end(error.message)
  })
  forked.on('exit', (code, signal) => end(signal ?? code ?? 'an unknown cause'))
  function end(how: string | number): void {
    hasBegun = false
    serving.reject(new Error(`a worker exited with ${how} before it served`))
    ended.resolve(how)
  }
  return worker
}

/** A worker that has run this long did not die from a bad start. */
const provenMs = 10_000
const shortestMs = 100
const longestMs = 10_000

/**
 * The delay before a dead worker is replaced: none, unless it dies early again and again.
 * | early deaths in a row | 0 | 1 | 2 | 3 | … | 8 | 9 and more |
 * | delay in ms | 0 | 0 | 100 | 200 | | 6,400 | 10,000 |
 */
export function restartDelayMs(youngDeaths: number): number {
  return youngDeaths <= 1 ? 0 : Math.min(longestMs, shortestMs * 2 ** (youngDeaths - 2))
}

/** @returns the number of early deaths in a row, this one included */
export function youngDeathsAfter(before: number, servedMs: number): number {
  return servedMs >= provenMs ? 0 : before + 1
}
