import { execFileSync } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'
import { startNats } from '../harness/nats-server.ts'
import { type Environment, freePort, type Host, type Running } from '../harness/process.ts'
import { eventStoreOf, postmasterOf } from './embedded.ts'

export const parts = ['api', 'dispatcher', 'event store', 'Postgres', 'NATS'] as const
export type Part = (typeof parts)[number]

export type Fleet = {
  address: string
  /** Sends SIGKILL to a process as soon as it runs. It is restarted, as by a service supervisor. */
  kill(part: Part): Promise<void>
  /** Stops the processes of a part until it is resumed. */
  halt(part: Part): void
  resume(part: Part): void
  stop(): Promise<void>
}

/**
 * Everything for sales, each part in its own process: the API, the dispatcher, NATS, and the embedded Postgres and
 * event store.
 */
export async function startFleet(host: Host, settings: Environment): Promise<Fleet> {
  const [apiPort, natsPort] = [await freePort(), await freePort()]
  const environment = { ...settings, KEYLEDGER_NATS_URL: `nats://127.0.0.1:${natsPort}` }
  const natsDirectory = host.path('nats')
  const kept = {
    NATS: keepRunning(() => startNats(host, natsPort, natsDirectory)),
    api: keepRunning(() => host.startServer(environment, apiPort, 'api,projector,reactions')),
    dispatcher: keepRunning(() => host.startServer(environment, apiPort, 'dispatcher')),
  }

  /** The API and the dispatcher supervise the event store and Postgres themselves. */
  function pidOf(part: Part): number {
    if (part === 'event store') return eventStoreOf(environment)?.pid ?? Number.NaN
    return part === 'Postgres' ? postmasterOf(environment) : kept[part].pid()
  }
  function send(part: Part, signal: NodeJS.Signals): void {
    const pid = pidOf(part)
    // Killing the postmaster kills its children; stopping it does not stop them.
    for (const child of part === 'Postgres' && signal !== 'SIGKILL' ? childrenOf(pid) : [])
      process.kill(child, signal)
    process.kill(pid, signal)
  }
  return {
    address: `http://localhost:${apiPort}`,
    async kill(part) {
      while (!isSent(() => send(part, 'SIGKILL'))) await sleep(20)
    },
    halt: (part) => send(part, 'SIGSTOP'),
    resume: (part) => send(part, 'SIGCONT'),
    stop: async () => void (await Promise.all(Object.values(kept).map((one) => one.stop()))),
  }
}

function isSent(send: () => void): boolean {
  try {
    send()
    return true
  } catch {
    // It is being started.
    return false
  }
}

const restartMs = 100

function keepRunning(start: () => Running) {
  let running = start()
  let stopped = false
  const watching = (async () => {
    for (;;) {
      await running.finished
      await sleep(restartMs)
      if (stopped) return
      running = start()
    }
  })()
  return {
    pid: () => running.child.pid ?? Number.NaN,
    async stop() {
      stopped = true
      running.child.kill('SIGKILL')
      await watching
    },
  }
}

function childrenOf(pid: number): number[] {
  const table = execFileSync('ps', ['-A', '-o', 'pid=,ppid='], { encoding: 'utf8' })
  return table.split('\n').flatMap((line) => {
    const [child = 0, parent] = line.trim().split(/\s+/).map(Number)
    return parent === pid ? child : []
  })
}
