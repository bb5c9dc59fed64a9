import { parseProof } from '../transparency/proof-file.ts'
import { isObject, readJson } from './json.ts'
import { NotProved, readingOf } from './not-proved.ts'
import { openCheckpoint, type Trust, type TrustedCheckpoint } from './trust.ts'

/**
 * Opens the checkpoint that somebody kept: on its own, or within a receipt or a `.tlog-proof` file. Witnesses are not
 * asked for: its owner knows it.
 * @throws NotProved
 */
export const openKept = (text: string, trust: Trust): TrustedCheckpoint =>
  openCheckpoint(checkpointIn(text), { ...trust, threshold: 0 }, 'The kept checkpoint')

function checkpointIn(text: string): string {
  if (text.startsWith('c2sp.org/tlog-proof')) return readingOf('The proof', () => parseProof(text)).checkpoint
  if (!text.startsWith('{')) return text
  const value = readJson('The receipt', text)
  if (!isObject(value) || typeof value.proof !== 'string')
    throw new NotProved('malformed', 'The kept file is neither a checkpoint nor a receipt.')
  return checkpointIn(value.proof)
}

/** @throws NotProved when the log is shorter than the kept one */
export function checkNotShorter(kept: TrustedCheckpoint, checkpoint: TrustedCheckpoint): void {
  if (checkpoint.size < kept.size)
    throw new NotProved(
      'rollback',
      `The log has ${String(checkpoint.size)} events, and the kept checkpoint has ${String(kept.size)}: the last ` +
        `${String(kept.size - checkpoint.size)} were taken back. Ask the operator whether an older backup was restored.${anotherLog(kept, checkpoint)}`,
    )
}

/** What to say when a log does not begin with the kept one. */
export const forked = (kept: TrustedCheckpoint, checkpoint: TrustedCheckpoint): NotProved =>
  new NotProved(
    'fork',
    `The log of ${String(checkpoint.size)} events does not begin with the ${String(kept.size)} events of the kept ` +
      'checkpoint: its history was rewritten, or it shows different readers different logs. Keep both checkpoints. ' +
      `Together they prove it, because both are signed.${anotherLog(kept, checkpoint)}`,
  )

/** After a restore, an operator may have started another log, which need not continue the first. */
const anotherLog = (kept: TrustedCheckpoint, { origin }: TrustedCheckpoint): string =>
  kept.origin === origin
    ? ''
    : ` The kept checkpoint is of the log ${kept.origin}, and ${origin} took its place: /v1/transparency/log says since when.`
