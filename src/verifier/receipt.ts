import { parseProof } from '../transparency/proof-file.ts'
import { NotProved, readingOf } from './not-proved.ts'
import { type ProvedEvent, proveRecord } from './proved-event.ts'
import { isObject } from './record.ts'
import { openCheckpoint, type Trust, type TrustedCheckpoint } from './trust.ts'

/** What a receipt proves. */
export type ProvedReceipt = { event: ProvedEvent; checkpoint: TrustedCheckpoint }

/**
 * Verifies a receipt: the JSON `{record, proof}`, whose record is canonical and whose proof is a `.tlog-proof` file.
 * @throws NotProved
 */
export function verifyReceipt(text: string, trust: Trust): ProvedReceipt {
  const value = readingOf('The receipt', (): unknown => JSON.parse(text))
  if (!isObject(value) || typeof value.record !== 'string' || typeof value.proof !== 'string')
    throw new NotProved(
      'malformed',
      'The file is not a receipt: JSON with "record" and "proof". Get it again.',
    )
  const { record, proof: file } = value
  const { index, proof, checkpoint: note } = readingOf('The proof', () => parseProof(file))
  const checkpoint = openCheckpoint(note, trust)
  return { event: proveRecord(record, index, proof, checkpoint), checkpoint }
}
