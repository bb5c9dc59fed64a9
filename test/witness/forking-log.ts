import { checkpointText } from '../../src/transparency/checkpoint.ts'
import { privateKeyOf, publicBytesOf, signatureTypes } from '../../src/transparency/note/keys.ts'
import { formatNote } from '../../src/transparency/note/note.ts'
import { signNote, verifierKey } from '../../src/transparency/note/verifier.ts'
import { rootOf } from '../../src/transparency/tree/edge.ts'
import { rangesOfConsistency } from '../../src/transparency/tree/ranges.ts'
import { readHashes } from '../../src/transparency/tree/tiles.ts'
import { formatAddCheckpoint } from '../../src/transparency/witness-call.ts'
import { keptTiles } from '../transparency/kept-tiles.ts'

export const origin = 'licenses.example/ledger'
const logKey = privateKeyOf(Buffer.alloc(32, 5))
export const logVerifier = verifierKey(origin, signatureTypes.ed25519, publicBytesOf(logKey))

/** A log that shows each reader another history: histories are equal before `fork`, and differ from it on. */
export function forkingLog(fork: number, most: number) {
  const treeOf = (history: string, size: number) =>
    keptTiles(
      Array.from({ length: size }, (_, at) =>
        Buffer.from(at < fork ? `event ${String(at)}` : `${history} ${String(at)}`),
      ),
    )
  const known = new Map<string, ReturnType<typeof treeOf>>()
  const tree = (history: string, size: number) => {
    const name = `${history} ${String(Math.min(size, most))}`
    const found = known.get(name) ?? treeOf(history, size)
    known.set(name, found)
    return found
  }
  const checkpoint = (history: string, size: number, by = logKey): string => {
    const text = checkpointText({ origin, size, root: rootOf(tree(history, size).edge) })
    return formatNote({ text, signatures: [signNote(origin, by, text)] })
  }
  return {
    checkpoint,
    rootOf: (history: string, size: number) =>
      Buffer.from(rootOf(tree(history, size).edge)).toString('base64'),
    /** A call of add-checkpoint with the right proof from an old size in the same history. */
    async call(history: string, old: number, size: number): Promise<string> {
      const ranges = old <= size ? rangesOfConsistency(old, size) : []
      const proof = await readHashes(ranges, size, tree(history, size).read)
      return formatAddCheckpoint(old, proof, checkpoint(history, size))
    },
  }
}
