import { NoteError, parseBase64 } from './note/note.ts'
import { type Hash, hashBytes } from './tree/edge.ts'

/** A state of a log: how many leaves it has, and their root. */
export type Checkpoint = { origin: string; size: number; root: Hash }

/**
 * @returns the text that is signed
 * @see https://c2sp.org/tlog-checkpoint
 */
export const checkpointText = ({ origin, size, root }: Checkpoint): string =>
  `${origin}\n${String(size)}\n${Buffer.from(root).toString('base64')}\n`

/** @returns the checkpoint in the text of a note; lines after the third are ignored. @throws NoteError */
export function parseCheckpoint(text: string): Checkpoint {
  const [origin = '', size = '', encoded = '', ...rest] = text.split('\n')
  const root = parseBase64(encoded)
  const isNumber = /^(0|[1-9]\d*)$/.test(size) && Number.isSafeInteger(Number(size))
  const extensions = rest.slice(0, -1)
  if (
    origin === '' ||
    !isNumber ||
    root?.length !== hashBytes ||
    rest.at(-1) !== '' ||
    extensions.includes('')
  )
    throw new NoteError('the text is no checkpoint')
  return { origin, size: Number(size), root }
}
