// Signs on a worker thread: many texts per message, because waking a thread costs as much as a signature.
import { type KeyObject, sign } from 'node:crypto'
import { parentPort } from 'node:worker_threads'

/** A batch to sign. Each key is sent once, and then referred to by name. */
export type Work = {
  id: number
  /** Whether to drop all known keys first. */
  startOver: boolean
  keys: [name: string, key: KeyObject][]
  texts: [name: string, text: Signable][]
}
/** A text is signed as UTF-8. */
export type Signable = string | Uint8Array
export type Done = { id: number; signatures: string[] }

const keys = new Map<string, KeyObject>()

parentPort?.on('message', ({ id, startOver, keys: fresh, texts }: Work) => {
  if (startOver) keys.clear()
  for (const [name, key] of fresh) keys.set(name, key)
  const signatures = texts.map(([name, text]) => {
    const key = keys.get(name)
    return key ? sign(null, Buffer.from(text), key).toString('base64') : ''
  })
  const done: Done = { id, signatures }
  parentPort?.postMessage(done)
})
