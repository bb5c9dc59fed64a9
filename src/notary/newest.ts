import type { Checkpoint } from '../transparency/checkpoint.ts'
import { type Hash, sameHash } from '../transparency/tree/edge.ts'

/** The newest checkpoint of a log that another party knows. */
export type Known = {
  /** Who knows it, in words. */
  source: string
  /** 0: none. */
  size: number
  /** Undefined when only the size was said. */
  root?: Hash
}

/** The log cannot be continued from this checkpoint. */
export class NotResumable extends Error {}

const newLog = 'Otherwise start another log: keyledger notary new-log'

/**
 * Checks that a checkpoint is the last one that was signed, as far as others know: the same key must never sign two
 * histories.
 * @throws NotResumable when a source knows a newer one, or another one of this size, or none knows this one
 */
export function checkNewest({ size, root }: Checkpoint, known: readonly Known[]): void {
  const [newest] = known.toSorted((one, other) => other.size - one.size)
  if (!newest)
    throw new NotResumable(
      'nothing says whether a newer checkpoint was signed. Set KEYLEDGER_NOTARY_KEEP or KEYLEDGER_NOTARY_WITNESSES as the ' +
        `installation had them before, or add --published <url>. ${newLog}`,
    )
  if (newest.size > size)
    throw new NotResumable(
      `the checkpoint covers ${String(size)} events, and ${newest.source} has a newer one of ${String(newest.size)}: from the older ` +
        `one, the same key would sign a second history. Go on from the newer one, if its events are there. ${newLog}`,
    )
  if (newest.size < size)
    throw new NotResumable(
      `the newest checkpoint that is known elsewhere covers ${String(newest.size)} events (${newest.source}), and this one ` +
        `${String(size)}: nothing says that it is the last. ${newLog}`,
    )
  for (const { source, size: theirs, root: other } of known)
    if (theirs === size && other && !sameHash(other, root))
      throw new NotResumable(
        `${source} has another checkpoint of ${String(size)} events: two histories of this log were signed. ${newLog}`,
      )
}

/** What is given up by going on from a checkpoint. */
export const abandonedBy = ({ size }: Checkpoint, known: readonly Known[]): string =>
  `The newest checkpoint that ${known.map(({ source }) => source).join(', ')} knows covers ${String(size)} events. ` +
  `Going on from it abandons every checkpoint of more than ${String(size)} events that may have been signed, and the events that ` +
  'only that one covers: readers who have it will see two histories under one key. The other installation must have been stopped. ' +
  `If you know that no such checkpoint was given out: --abandon-after ${String(size)}. ${newLog}`
