import { parseCheckpoint } from '../transparency/checkpoint.ts'
import { cosignedAt } from '../transparency/note/cosignature.ts'
import { formatNote, NoteError, parseNote } from '../transparency/note/note.ts'
import { signaturesOf, type VerifierKey } from '../transparency/note/verifier.ts'
import { rangesOfConsistency } from '../transparency/tree/ranges.ts'
import { type ReadTile, readHashes } from '../transparency/tree/tiles.ts'
import { formatAddCheckpoint } from '../transparency/witness-call.ts'
import type { SignedCheckpoint } from './checkpoints.ts'

/** A witness: where it answers, and its public key. */
export type Witness = { url: string; key: VerifierKey }

/** What a witness signed. */
export type Cosignature = { line: string; at: Date }

/** A witness did not cosign. The message says why. */
export class NotCosigned extends Error {}

const answerMs = 10_000
/** Longer than any answer of a witness. */
const maxAnswer = 65_536

/**
 * Sends a checkpoint to a witness, with the proof that it continues what the witness knows.
 * @param known the size that the witness knows, as far as it is known here
 * @returns its cosignature, verified
 * @throws NotCosigned
 */
export async function askWitness(
  witness: Witness,
  checkpoint: SignedCheckpoint,
  known: number,
  read: ReadTile,
  signal: AbortSignal,
): Promise<Cosignature> {
  const answer = await send(witness, checkpoint, Math.min(known, checkpoint.size), read, signal)
  if (answer.status !== 409) return cosignatureIn(witness, checkpoint, answer)
  const size = /^(0|[1-9]\d*)\n$/.exec(answer.body)?.[1]
  if (size === undefined) throw new NotCosigned('it answered 409 without a size')
  if (Number(size) > checkpoint.size)
    throw new NotCosigned(
      `it has cosigned ${size} events of this log, which has ${String(checkpoint.size)}: an older copy may have been restored`,
    )
  return cosignatureIn(witness, checkpoint, await send(witness, checkpoint, Number(size), read, signal))
}

/**
 * Asks a witness how many events of a log it has cosigned. It cosigns the given checkpoint again when that is its last.
 * @returns the size of its last checkpoint: that of the given one only when it is the very same
 * @throws NotCosigned when it does not say
 */
export async function sizeAtWitness(
  witness: Witness,
  checkpoint: Pick<SignedCheckpoint, 'size' | 'note'>,
  signal: AbortSignal,
): Promise<number> {
  const nothing = () => Promise.reject(new Error('no proof is needed'))
  const answer = await send(witness, checkpoint, checkpoint.size, nothing, signal)
  const size = answer.status === 409 ? /^(0|[1-9]\d{0,14})\n$/.exec(answer.body)?.[1] : undefined
  if (size !== undefined && Number(size) !== checkpoint.size) return Number(size)
  cosignatureIn(witness, checkpoint, answer)
  return checkpoint.size
}

type Answer = { status: number; body: string }

async function send(
  { url }: Witness,
  { size, note }: Pick<SignedCheckpoint, 'size' | 'note'>,
  old: number,
  read: ReadTile,
  signal: AbortSignal,
): Promise<Answer> {
  const proof = await readHashes(rangesOfConsistency(old, size), size, read)
  try {
    const response = await fetch(`${url}/add-checkpoint`, {
      method: 'POST',
      headers: { 'content-type': 'text/plain; charset=utf-8' },
      body: formatAddCheckpoint(old, proof, note),
      redirect: 'error',
      signal: AbortSignal.any([signal, AbortSignal.timeout(answerMs)]),
    })
    return { status: response.status, body: await shortBody(response) }
  } catch (error) {
    if (error instanceof NotCosigned) throw error
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error
    throw new NotCosigned(`it does not answer: ${cause instanceof Error ? cause.message : String(cause)}`)
  }
}

async function shortBody(response: Response): Promise<string> {
  let text = ''
  const decoder = new TextDecoder()
  for await (const chunk of response.body ?? []) {
    text += decoder.decode(chunk, { stream: true })
    if (text.length > maxAnswer) throw new NotCosigned('its answer is too long')
  }
  return text
}

function cosignatureIn(
  { key }: Witness,
  { note }: Pick<SignedCheckpoint, 'note'>,
  { status, body }: Answer,
): Cosignature {
  if (status !== 200) throw new NotCosigned(reasons[status] ?? `it answered ${String(status)}`)
  try {
    const cosigned = parseNote(note + body)
    const seconds = cosignedAt(cosigned, key)
    if (seconds === undefined || seconds === 0)
      throw new NotCosigned('its answer has no signature of its key')
    const [signature] = signaturesOf(cosigned, key)
    if (!signature) throw new NotCosigned('its answer has no signature of its key')
    const lines = formatNote({ text: '', signatures: [signature] })
    return { line: lines.slice(1), at: new Date(seconds * 1000) }
  } catch (error) {
    if (error instanceof NoteError) throw new NotCosigned(`its signature is not valid: ${error.message}`)
    throw error
  }
}

const reasons: Partial<Record<number, string>> = {
  400: 'it could not read the call (400)',
  403: 'it does not trust the key of this log (403): give it the present one',
  404: 'it does not follow this log (404): give it the key of the log, and check the address',
  409: 'it answered 409 twice: another process sends it checkpoints of this log',
  422: 'it has seen another history of this log (422): the log was rewritten, or an older copy was restored and continued',
}

/** @returns the origin and text of a checkpoint */
export function textOf({ note }: SignedCheckpoint): { origin: string; text: string } {
  const { text } = parseNote(note)
  return { origin: parseCheckpoint(text).origin, text }
}
