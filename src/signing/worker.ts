// Signs beside the event loop: many texts a message, since waking a thread costs as much as a signature does.
import { type KeyObject, sign } from 'node:crypto'
import { parentPort } from 'node:worker_threads'

/** Keys are sent once, and go by their names from then on. */
export type Work = {
  id: number
  /** Forget the keys of before. */
  startOver: boolean
  keys: [name: string, key: KeyObject][]
  texts: [name: string, text: string][]
}
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
