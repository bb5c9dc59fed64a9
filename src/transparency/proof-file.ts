import { parseBase64 } from './note/note.ts'
import { type Hash, hashBytes } from './tree/edge.ts'
import { ProofError } from './tree/proof.ts'

/** A proof that stands alone: where a record is in the log, why, and the signed checkpoint that it leads to. */
export type ProofFile = {
  index: number
  /** From the sibling of the leaf up. */
  proof: readonly Hash[]
  /** The signed note, as it was published. */
  checkpoint: string
  /** Data beside the proof, which is not authenticated. */
  extra?: Uint8Array | undefined
}

const firstLine = 'c2sp.org/tlog-proof@v1'
/** No tree is higher. */
const maxHashes = 63

/**
 * @returns the text of a `.tlog-proof` file
 * @see https://c2sp.org/tlog-proof
 */
export function formatProof({ index, proof, checkpoint, extra }: ProofFile): string {
  const lines = [
    firstLine,
    ...(extra ? [`extra ${base64(extra)}`] : []),
    `index ${String(index)}`,
    ...proof.map(base64),
    '',
  ]
  return `${lines.join('\n')}\n${checkpoint}`
}

const base64 = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64')

/** Parses a proof. Nothing is verified. @throws ProofError */
export function parseProof(text: string): ProofFile {
  const end = text.indexOf('\n\n')
  const [first, ...lines] = text.slice(0, end === -1 ? undefined : end).split('\n')
  if (first !== firstLine || end === -1) throw new ProofError(`the proof does not begin with ${firstLine}`)
  const extra = lines[0]?.startsWith('extra ') ? required(lines.shift()?.slice('extra '.length)) : undefined
  const index = /^index (0|[1-9]\d*)$/.exec(lines.shift() ?? '')?.[1]
  if (index === undefined || !Number.isSafeInteger(Number(index)))
    throw new ProofError('the proof has no index')
  if (lines.length > maxHashes) throw new ProofError('the proof is too long')
  const proof = lines.map(required)
  if (proof.some(({ length }) => length !== hashBytes)) throw new ProofError('the proof has a malformed hash')
  return { index: Number(index), proof, checkpoint: text.slice(end + 2), ...(extra && { extra }) }
}

function required(encoded = ''): Uint8Array {
  const bytes = parseBase64(encoded)
  if (!bytes) throw new ProofError('the proof has a malformed hash')
  return bytes
}
