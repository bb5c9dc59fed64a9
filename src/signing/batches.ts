import { type KeyObject, sign } from 'node:crypto'
import { extname, join } from 'node:path'
import { Worker } from 'node:worker_threads'
import type { Done, Signable, Work } from './worker.ts'

type SignRequest = { name: string; key: KeyObject; text: Signable; resolve: (signature: string) => void }

export type Batches = {
  /** Signs a text or bytes. @param name identifies the key, and is never used for another one. @returns base64 */
  sign(name: string, key: KeyObject, text: Signable): Promise<string>
  close(): Promise<void>
}

/** TypeScript in a clone, JavaScript in the npm package, like this file. */
const workerProgram = join(import.meta.dirname, `worker${extname(import.meta.filename)}`)

/** Smaller batches are signed here, because the message to the worker thread and back would take longer. */
const minWorkerBatch = 4

/**
 * Signs requests of the same tick together on a worker thread, and a few of them directly. Validates come many
 * at a time, because they share look-ups.
 * @param maxKnownKeys how many keys the thread keeps; beyond that it drops all, and gets the needed ones again
 */
export function createBatches(maxKnownKeys = 10_000): Batches {
  let waiting: SignRequest[] = []
  let thread: SigningThread | undefined

  function flush(): void {
    const batch = waiting
    waiting = []
    if (batch.length < minWorkerBatch) {
      signHere(batch)
      return
    }
    if (!thread?.alive) thread = startThread(maxKnownKeys)
    thread.send(batch)
  }

  return {
    sign: (name, key, text) =>
      new Promise((resolve) => {
        waiting.push({ name, key, text, resolve })
        if (waiting.length === 1) setImmediate(flush)
      }),
    async close() {
      await thread?.end()
    },
  }
}

function signHere(batch: readonly SignRequest[]): void {
  for (const { key, text, resolve } of batch) resolve(sign(null, Buffer.from(text), key).toString('base64'))
}

type SigningThread = {
  readonly alive: boolean
  send(batch: readonly SignRequest[]): void
  end(): Promise<unknown>
}

/** Starts the worker thread that signs. If it ends, its unanswered requests are signed here. */
function startThread(maxKnownKeys: number): SigningThread {
  const worker = new Worker(workerProgram)
  const known = new Set<string>()
  const inFlight = new Map<number, readonly SignRequest[]>()
  let alive = true
  let sent = 0
  worker.unref()
  worker.on('message', ({ id, signatures }: Done) => {
    const batch = inFlight.get(id) ?? []
    inFlight.delete(id)
    for (const [index, { resolve }] of batch.entries()) resolve(signatures[index] ?? '')
  })
  const onEnd = () => {
    alive = false
    const lost = [...inFlight.values()]
    inFlight.clear()
    for (const batch of lost) signHere(batch)
  }
  worker.on('error', onEnd)
  worker.on('exit', onEnd)
  return {
    get alive() {
      return alive
    },
    send(batch) {
      const startOver = known.size >= maxKnownKeys
      if (startOver) known.clear()
      const fresh = new Map(batch.flatMap(({ name, key }) => (known.has(name) ? [] : [[name, key]])))
      for (const name of fresh.keys()) known.add(name)
      const id = sent++
      inFlight.set(id, batch)
      const work: Work = {
        id,
        startOver,
        keys: [...fresh],
        texts: batch.map(({ name, text }) => [name, text]),
      }
      worker.postMessage(work)
    },
    end() {
      alive = false
      return worker.terminate()
    },
  }
}
