import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync, readdirSync, readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { type LocalPostgres, startPostgres } from '../../infra/local/postgres/postgres.ts'

/** A process that is restarted whenever it ends, as by a service supervisor. */
export type RunningPart = {
  /** Sends SIGKILL, and starts it again after `downMs`. */
  kill(downMs: number): Promise<void>
  /** Sends SIGTERM, and starts it again. */
  restart(): Promise<void>
  freeze(): void
  resume(): void
  /** Ends it permanently. */
  stop(): Promise<void>
}

/** Called when a process ended by itself. */
export type OnEnd = (code: number | null, signal: NodeJS.Signals | null) => void

const restartMs = 200

/**
 * Keeps a program running.
 * @param logFile receives its output
 */
export function keepRunning(
  command: readonly string[],
  environment: NodeJS.ProcessEnv,
  logFile: string,
  onEnd: OnEnd,
): RunningPart {
  const [program = '', ...args] = command
  let stopped = false
  /** A fault is ending it now, and starts it again later. */
  let held = false
  let child: ChildProcess

  function start(): void {
    if (stopped) return
    const log = openSync(logFile, 'a')
    try {
      child = spawn(program, args, { env: environment, stdio: ['ignore', log, log] })
    } finally {
      closeSync(log)
    }
    const started = child
    started.once('exit', (code, signal) => {
      if (stopped || held || child !== started) return
      onEnd(code, signal)
      setTimeout(start, restartMs)
    })
  }

  async function endBy(signal: NodeJS.Signals): Promise<void> {
    if (child.exitCode !== null || child.signalCode !== null) return
    const exited = once(child, 'exit')
    child.kill(signal)
    await exited
  }

  start()
  return {
    async kill(downMs) {
      held = true
      await endBy('SIGKILL')
      await sleep(downMs)
      held = false
      start()
    },
    async restart() {
      held = true
      await endBy('SIGTERM')
      held = false
      start()
    },
    // With its workers, as when a machine sleeps.
    freeze: () => sendToTree(child.pid, 'SIGSTOP'),
    resume: () => sendToTree(child.pid, 'SIGCONT'),
    async stop() {
      stopped = true
      await endBy('SIGKILL')
    },
  }
}

const pollMs = 300

/** Keeps the embedded Postgres running on a data directory. */
export async function keepPostgresRunning(
  directory: string,
  onEnd: OnEnd,
): Promise<RunningPart & { readonly postgres: LocalPostgres }> {
  let running = await startPostgres({ directory })
  let stopped = false
  let held = false
  /** It was ended by this process. */
  let ended = false

  /** @returns whether it runs */
  async function start(): Promise<boolean> {
    try {
      running = await startPostgres({ directory })
      return true
    } catch {
      // Its disk is full, or the killed processes have not ended yet.
      return false
    }
  }

  const watching = (async () => {
    while (!stopped) {
      await sleep(pollMs)
      if (stopped || held || running.isRunning()) continue
      if (!ended) onEnd(null, null)
      while (!stopped && !held && !(await start())) await sleep(restartMs)
      ended = false
    }
  })()

  async function untilEnded(): Promise<void> {
    while (running.isRunning()) await sleep(20)
  }

  return {
    get postgres() {
      return running
    },
    async kill(downMs) {
      held = true
      ended = true
      send(running.pid, 'SIGKILL')
      await untilEnded()
      await sleep(downMs)
      held = false
    },
    async restart() {
      held = true
      ended = true
      await running.stop()
      held = false
    },
    freeze: () => sendToTree(running.pid, 'SIGSTOP'),
    resume: () => sendToTree(running.pid, 'SIGCONT'),
    async stop() {
      stopped = true
      send(running.pid, 'SIGQUIT')
      await Promise.all([watching, untilEnded()])
    },
  }
}

/** Signals the children, too: stopping a process does not stop them. */
function sendToTree(root: number | undefined, signal: NodeJS.Signals): void {
  if (root === undefined) return
  for (const pid of [root, ...childrenOf(root)]) send(pid, signal)
}

function send(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal)
  } catch {
    // It has already ended.
  }
}

function childrenOf(pid: number): number[] {
  return readdirSync('/proc').flatMap((name) =>
    /^\d+$/.test(name) && parentOf(name) === pid ? [Number(name)] : [],
  )
}

function parentOf(pid: string): number {
  try {
    // The name in parentheses may contain anything.
    const [, parent] = readFileSync(`/proc/${pid}/stat`, 'latin1')
      .replace(/^.*\) /s, '')
      .split(' ')
    return Number(parent)
  } catch {
    return Number.NaN
  }
}
