import { type KeyObject, sign } from 'node:crypto'
import { extname, join } from 'node:path'
import { Worker } from 'node:worker_threads'
import type { Done, Work } from './worker.ts'

type Asked = { name: string; key: KeyObject; text: string; resolve: (signature: string) => void }

export type Batches = {
  /** @param name of the key, which never stands for another one. @returns base64 */
  sign(name: string, key: KeyObject, text: string): Promise<string>
  close(): Promise<void>
}

/** TypeScript in a clone, JavaScript in the npm package, as this file is itself. */
const workerProgram = join(import.meta.dirname, `worker${extname(import.meta.filename)}`)

/** Fewer are signed at once here: sending them away and back would take longer. */
const worthSending = 4

/**
 * Signs what is asked for at the same moment together, on a thread of its own; what is asked for alone is signed
 * where it is. Validates come many at a time, since they share look-ups.
 * @param mostKnown keys that the thread is sent once; when it has so many, it forgets them and is sent what it needs
 */
export function createBatches(mostKnown = 10_000): Batches {
  let waiting: Asked[] = []
  let helper: Helper | undefined

  function flush(): void {
    const batch = waiting
    waiting = []
    if (batch.length < worthSending) {
      signHere(batch)
      return
    }
    if (!helper?.alive) helper = startHelper(mostKnown)
    helper.send(batch)
  }

  return {
    sign: (name, key, text) =>
      new Promise((resolve) => {
        waiting.push({ name, key, text, resolve })
        if (waiting.length === 1) setImmediate(flush)
      }),
    async close() {
      await helper?.end()
    },
  }
}

function signHere(batch: readonly Asked[]): void {
  for (const { key, text, resolve } of batch) resolve(sign(null, Buffer.from(text), key).toString('base64'))
}

type Helper = { readonly alive: boolean; send(batch: readonly Asked[]): void; end(): Promise<unknown> }

/** The thread that signs. When it ends, what it has not answered is signed here. */
function startHelper(mostKnown: number): Helper {
  const worker = new Worker(workerProgram)
  const known = new Set<string>()
  const away = new Map<number, readonly Asked[]>()
  let alive = true
  let sent = 0
  worker.unref()
  worker.on('message', ({ id, signatures }: Done) => {
    const batch = away.get(id) ?? []
    away.delete(id)
    for (const [index, { resolve }] of batch.entries()) resolve(signatures[index] ?? '')
  })
  const gone = () => {
    alive = false
    const lost = [...away.values()]
    away.clear()
    for (const batch of lost) signHere(batch)
  }
  worker.on('error', gone)
  worker.on('exit', gone)
  return {
    get alive() {
      return alive
    },
    send(batch) {
      const startOver = known.size >= mostKnown
      if (startOver) known.clear()
      const fresh = new Map(batch.flatMap(({ name, key }) => (known.has(name) ? [] : [[name, key]])))
      for (const name of fresh.keys()) known.add(name)
      const id = sent++
      away.set(id, batch)
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
