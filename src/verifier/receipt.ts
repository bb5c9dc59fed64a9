import { parseProof } from '../transparency/proof-file.ts'
import { isObject, readJson } from './json.ts'
import { NotProved, readingOf } from './not-proved.ts'
import { type ProvedEvent, proveRecord } from './proved-event.ts'
import { openCheckpoint, type Trust, type TrustedCheckpoint } from './trust.ts'

/** What a receipt proves. */
export type ProvedReceipt = {
  event: ProvedEvent
  checkpoint: TrustedCheckpoint
  /** What is in the file and is not proved, in sentences. */
  notProved: string[]
}

/**
 * Verifies a receipt: the JSON `{record, proof}`, whose record is canonical and whose proof is a `.tlog-proof` file.
 * @throws NotProved
 */
export const verifyReceipt = (text: string, trust: Trust): ProvedReceipt =>
  readingOf('The receipt', () => verify(text, trust))

function verify(text: string, trust: Trust): ProvedReceipt {
  const value = readJson('The receipt', text)
  if (!isObject(value) || typeof value.record !== 'string' || typeof value.proof !== 'string')
    throw new NotProved(
      'malformed',
      'The file is not a receipt: JSON with "record" and "proof". Get it again.',
    )
  const { record, proof: file, ...others } = value
  const { index, proof, checkpoint: note, extra } = readingOf('The proof', () => parseProof(file))
  if (extra)
    throw new NotProved('added', 'The proof has extra data, which no receipt of keyledger has. Get it again.')
  const checkpoint = openCheckpoint(note, trust)
  const event = proveRecord(record, index, proof, checkpoint)
  return { event, checkpoint, notProved: notProvedIn(Object.keys(others)) }
}

/** An event of the feed is a receipt with more members. */
const notProvedIn = (names: readonly string[]): string[] =>
  names.length === 0
    ? []
    : [
        `Not proved: the other members of the file, ${names.map((name) => JSON.stringify(name)).join(', ')}. Only what is in "record" is.`,
      ]
