import cluster from 'node:cluster'
import { extname, join } from 'node:path'
import { FromWorker, type ToWorker } from './messages.ts'

/** TypeScript in a clone, JavaScript in the npm package, like this file. */
const program = join(import.meta.dirname, `worker${extname(import.meta.filename)}`)

export type Message = ReturnType<(typeof FromWorker)['parse']>

/** A worker as its parent sees it. */
export type WorkerProcess = {
  readonly id: number
  readonly pid: number | undefined
  /** Resolves with its URL. Rejects when the worker ends first. */
  readonly listening: Promise<string>
  /** Resolves with the signal or the exit code. */
  readonly ended: Promise<string | number>
  /** It is draining, because another worker takes over. */
  isLeaving: boolean
  send(message: ToWorker): void
  kill(): void
}

/** Starts a worker. It loads its code and waits for the message with the URLs of the stores. */
export function forkWorker(
  onMessage: (workerProcess: WorkerProcess, message: Message) => void,
): WorkerProcess {
  cluster.setupPrimary({ exec: program, args: [] })
  const forked = cluster.fork()
  const listening = Promise.withResolvers<string>()
  // The promise may have no other handler.
  listening.promise.catch(() => undefined)
  const ended = Promise.withResolvers<string | number>()
  const worker: WorkerProcess = {
    id: forked.id,
    pid: forked.process.pid,
    listening: listening.promise,
    ended: ended.promise,
    isLeaving: false,
    send(message) {
      // A worker that is ending receives no more messages.
      if (forked.isConnected()) forked.send(message, () => undefined)
    },
    kill: () => void forked.process.kill('SIGKILL'),
  }
  forked.on('message', (message) => {
    const received = FromWorker.parse(message)
    if (received.kind === 'listening') listening.resolve(received.address)
    onMessage(worker, received)
  })
  // A message that cannot be sent any more is followed by `exit`.
  forked.on('error', () => undefined)
  forked.on('exit', (code: number, signal: string) => {
    const how = signal || code
    listening.reject(new Error(`a worker exited with ${how} before it was listening`))
    ended.resolve(how)
  })
  return worker
}
