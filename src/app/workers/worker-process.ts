import cluster from 'node:cluster'
import { extname, join } from 'node:path'
import { FromWorker, type ToWorker } from './messages.ts'

/** TypeScript in a clone, JavaScript in the npm package, as this file is itself. */
const program = join(import.meta.dirname, `worker${extname(import.meta.filename)}`)

export type Message = ReturnType<(typeof FromWorker)['parse']>

/** A worker as its parent sees it. */
export type WorkerProcess = {
  readonly id: number
  readonly pid: number | undefined
  /** Resolves with its address. Rejects when it ends before. */
  readonly listening: Promise<string>
  /** Resolves with the signal or the exit code that it ended with. */
  readonly ended: Promise<string | number>
  /** It drains, since another one takes over. */
  isLeaving: boolean
  send(message: ToWorker): void
  kill(): void
}

/** Starts a worker. It loads its code and waits to be told where the stores are. */
export function forkWorker(
  onMessage: (workerProcess: WorkerProcess, message: Message) => void,
): WorkerProcess {
  cluster.setupPrimary({ exec: program, args: [] })
  const forked = cluster.fork()
  const listening = Promise.withResolvers<string>()
  // Not everybody who has a worker waits for it.
  listening.promise.catch(() => undefined)
  const ended = Promise.withResolvers<string | number>()
  const worker: WorkerProcess = {
    id: forked.id,
    pid: forked.process.pid,
    listening: listening.promise,
    ended: ended.promise,
    isLeaving: false,
    send(message) {
      // One that is just ending is not told any more.
      if (forked.isConnected()) forked.send(message, () => undefined)
    },
    kill: () => void forked.process.kill('SIGKILL'),
  }
  forked.on('message', (message) => {
    const received = FromWorker.parse(message)
    if (received.kind === 'listening') listening.resolve(received.address)
    onMessage(worker, received)
  })
  // What cannot be sent to it any more is told by its end.
  forked.on('error', () => undefined)
  forked.on('exit', (code: number, signal: string) => {
    const how = signal || code
    listening.reject(new Error(`a worker exited with ${how} before it was listening`))
    ended.resolve(how)
  })
  return worker
}
