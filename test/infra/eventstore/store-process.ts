import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'

const entry = join(import.meta.dirname, '../../../infra/local/eventstore/main.ts')

/** The event store in its own process, to be ended in different ways. */
export class StoreProcess {
  readonly child: ChildProcessByStdio<null, Readable, Readable>
  readonly #exited: Promise<unknown>

  constructor(...args: string[]) {
    this.child = spawn(process.execPath, [entry, ...args], { stdio: ['ignore', 'pipe', 'pipe'] })
    this.#exited = once(this.child, 'exit')
  }

  /** Matches the line that reports that the store is ready. */
  async ready(): Promise<{ url: string; pid: number }> {
    for await (const line of createInterface({ input: this.child.stdout })) {
      const message: unknown = JSON.parse(line)
      if (isReady(message)) return message
    }
    throw new Error(`the event store did not start: ${await text(this.child.stderr)}`)
  }

  /** How the process ended, and its output. */
  async failure(): Promise<{ exitCode: number | null; message: string }> {
    const message = await text(this.child.stderr)
    await this.#exited
    return { exitCode: this.child.exitCode, message }
  }

  async end(signal: 'SIGTERM' | 'SIGKILL'): Promise<number | null> {
    this.child.kill(signal)
    await this.#exited
    return this.child.exitCode
  }
}

function isReady(message: unknown): message is { url: string; pid: number } {
  return typeof message === 'object' && message !== null && 'ready' in message && message.ready === true
}
