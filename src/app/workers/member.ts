import cluster from 'node:cluster'
import { extname, join } from 'node:path'
import { FromWorker, type ToWorker } from './messages.ts'

/** TypeScript in a clone, JavaScript in the npm package, as this file is itself. */
const program = join(import.meta.dirname, `worker${extname(import.meta.filename)}`)

export type Message = ReturnType<(typeof FromWorker)['parse']>

/** A worker as its parent sees it. */
export type Member = {
  readonly id: number
  readonly pid: number | undefined
  /** Resolves with its address. Rejects when it ends before. */
  readonly listening: Promise<string>
  /** Resolves with the signal or the exit code that it ended with. */
  readonly ended: Promise<string | number>
  /** It drains, since another one takes over. */
  isLeaving: boolean
  tell(message: ToWorker): void
  kill(): void
}

/** Starts a worker. It loads its code and waits to be told where the stores are. */
export function forkMember(hear: (member: Member, message: Message) => void): Member {
  cluster.setupPrimary({ exec: program, args: [] })
  const worker = cluster.fork()
  const listening = Promise.withResolvers<string>()
  // Not everybody who has a worker waits for it.
  listening.promise.catch(() => undefined)
  const ended = Promise.withResolvers<string | number>()
  const member: Member = {
    id: worker.id,
    pid: worker.process.pid,
    listening: listening.promise,
    ended: ended.promise,
    isLeaving: false,
    tell(message) {
      // One that is just ending is not told any more.
      if (worker.isConnected()) worker.send(message, () => undefined)
    },
    kill: () => void worker.process.kill('SIGKILL'),
  }
  worker.on('message', (message) => {
    const told = FromWorker.parse(message)
    if (told.kind === 'listening') listening.resolve(told.address)
    hear(member, told)
  })
  // What cannot be sent to it any more is told by its end.
  worker.on('error', () => undefined)
  worker.on('exit', (code: number, signal: string) => {
    const how = signal || code
    listening.reject(new Error(`a worker exited with ${how} before it was listening`))
    ended.resolve(how)
  })
  return member
}
