import { provesConsistency } from '../transparency/tree/proof.ts'
import { rangesOfConsistency } from '../transparency/tree/ranges.ts'
import { type ReadTile, readHashes } from '../transparency/tree/tiles.ts'
import { checkNotShorter, forked, openKept } from './kept.ts'
import { openCheckpoint, type Trust, type TrustedCheckpoint } from './trust.ts'

/** A log that is served: C2SP tlog-tiles. */
export type ServedLog = { checkpoint: () => Promise<string>; tile: ReadTile }

/** What a served log proves. */
export type ProvedServer = { checkpoint: TrustedCheckpoint; kept: TrustedCheckpoint }

/**
 * Verifies that a served log extends the log of a saved checkpoint.
 * @param kept a checkpoint, a receipt or a proof
 * @throws NotProved
 */
export async function verifyServer(log: ServedLog, trust: Trust, kept: string): Promise<ProvedServer> {
  const old = openKept(kept, trust)
  const checkpoint = openCheckpoint(await log.checkpoint(), trust, "The server's checkpoint")
  checkNotShorter(old, checkpoint)
  const ranges = rangesOfConsistency(old.size, checkpoint.size)
  const proof = await readHashes(ranges, checkpoint.size, log.tile)
  if (!provesConsistency(old, checkpoint, proof)) throw forked(old, checkpoint)
  return { checkpoint, kept: old }
}
