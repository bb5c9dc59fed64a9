import { setTimeout as pause } from 'node:timers/promises'
import type { ClientBase, Pool } from 'pg'
import { withOwnConnection } from '../../projections/database/connection.ts'
import type { WakeSignal } from '../async/wake-signal.ts'
import { notaryStream } from '../domain/streams.ts'
import type { Ledger } from '../ledger/ledger.ts'
import type { LogSource } from '../ledger/raw/log.ts'
import { rootOf, sameHash } from '../transparency/tree/edge.ts'
import { readHashes } from '../transparency/tree/tiles.ts'
import {
  keepLastEvent,
  type NotarySigner,
  readCheckpoint,
  type SignedCheckpoint,
  signCheckpoint,
} from './checkpoints.ts'
import { forgetOtherPositions } from './covering.ts'
import type { KeptCheckpoints } from './kept.ts'
import { leafOf } from './leaves.ts'
import { NotarySuspended } from './suspension.ts'
import { addLeaves, openTree, type TreeState, tileReader } from './tree-store.ts'

export type NotaryOptions = {
  db: Pool
  log: LogSource
  ledger: Pick<Ledger, 'eventOf'>
  signer: NotarySigner
  now: () => Date
  /** Where the last checkpoint is kept besides the database. */
  kept?: KeptCheckpoints | undefined
  /** How often the end of the log is looked at, at most. */
  pollMs?: number
  /** Says that the log has new entries; without it the log is polled. */
  news?: WakeSignal | undefined
  /** The longest time without a checkpoint while events arrive. */
  checkpointMs?: number
  /** Called after each checkpoint. */
  onCheckpoint?: (checkpoint: SignedCheckpoint) => void
}

/**
 * Follows the log and signs what was hashed, until the signal aborts or an event changes in whose name or with which keys
 * checkpoints are signed.
 * @throws NotarySuspended when the log lacks events that are in the tree
 */
export async function followLog(options: NotaryOptions, signal: AbortSignal): Promise<void> {
  const { db, signer, pollMs = 500, news } = options
  await withOwnConnection(db, async (client) => {
    const tree = await openTree(client, signer.origin)
    await forgetOtherPositions(db, options.ledger)
    const position = await positionOfLast(options, tree)
    let progress: Progress = { tree, position, last: position, signerChanged: false }
    let placed: number | undefined
    while (!signal.aborted) {
      progress = await hashToEnd(options, client, progress, signal)
      if (progress.signerChanged) return
      const { size } = progress.tree.edge
      // Once for each checkpoint, and not at each poll of a log that stands still.
      if ((await signIfNew(options, progress, true)) && size !== placed) {
        await keepLastEvent(db, signer, progress.tree, progress.last)
        placed = size
      }
      await pause(pollMs, undefined, { signal }).catch(() => undefined)
      await news?.wait(quietMs, signal)
    }
  })
}

/** Every entry of the log is announced; this is for an announcement that was lost. */
const quietMs = 10_000

type Progress = {
  tree: TreeState
  /** Up to which the log was read for the tree. */
  position: bigint | undefined
  /** Where the last leaf's event is. */
  last: bigint | undefined
  /** An event of the notary's own stream was hashed. */
  signerChanged: boolean
}

/**
 * Positions are no part of the tree: in a copy of the log they are others, and the events are the same.
 * @throws NotarySuspended
 */
async function positionOfLast({ ledger }: NotaryOptions, { last }: TreeState): Promise<bigint | undefined> {
  if (!last) return undefined
  const found = await ledger.eventOf(last.stream, last.revision)
  if (found?.id !== last.id) throw NotarySuspended.logLacks(last)
  return found.position
}

async function hashToEnd(
  options: NotaryOptions,
  client: ClientBase,
  resumed: Progress,
  signal: AbortSignal,
): Promise<Progress> {
  const { log, checkpointMs = 1000 } = options
  let { tree, position, last, signerChanged } = resumed
  let signed = performance.now()
  for await (const { events, through } of log.pages(position)) {
    const [first, ...rest] = events
    if (first) tree = await addLeaves(client, tree, [leafOf(first), ...rest.map(leafOf)])
    position = through
    last = events.at(-1)?.position ?? last
    signerChanged ||= events.some(({ stream }) => stream === notaryStream)
    if (performance.now() - signed >= checkpointMs) {
      await signIfNew(options, { tree, last })
      signed = performance.now()
    }
    if (signal.aborted || signerChanged) break
  }
  return { tree, position, last, signerChanged }
}

/** @returns whether this very tree was signed before */
async function signIfNew(
  options: NotaryOptions,
  { tree, last: position }: Pick<Progress, 'tree' | 'last'>,
  isWhole = false,
): Promise<boolean> {
  const { db, signer, now, onCheckpoint, kept } = options
  const last = await readCheckpoint(db)
  if (!(await continuesKept(options, tree, last, isWhole))) return false
  const { size } = tree.edge
  // Smaller than a checkpoint that was published: the tree is being computed again.
  if (size < (last?.size ?? 1)) return false
  if (size === last?.size) {
    refuseAnother(last, tree)
    return true
  }
  const checkpoint = await signCheckpoint(db, signer, tree, now(), position, (note) =>
    kept?.keep(signer.origin, note),
  )
  onCheckpoint?.(checkpoint)
  return false
}

/**
 * Whether the tree continues the checkpoint that is kept besides the database. That one is newer after a crash between the two;
 * also when an older image of the database was put back, or when another installation signs this log.
 * @param isWhole the tree has all events of the log
 * @throws NotarySuspended when it does not
 */
async function continuesKept(
  { db, signer: { origin }, kept }: NotaryOptions,
  { edge }: TreeState,
  last: SignedCheckpoint | undefined,
  isWhole: boolean,
): Promise<boolean> {
  const newest = kept?.read(origin)
  if (!kept || !newest || newest.size < (last?.size ?? 0)) return true
  if (newest.size === last?.size) {
    if (sameHash(newest.root, last.root)) return true
    throw NotarySuspended.contradicts(newest.size)
  }
  if (edge.size < newest.size) {
    if (isWhole) throw NotarySuspended.keptIsNewer(kept.place, newest.size, edge.size)
    return false
  }
  const [root] = await readHashes([{ start: 0, end: newest.size }], edge.size, tileReader(db))
  if (!root || !sameHash(root, newest.root)) throw NotarySuspended.contradicts(newest.size)
  return true
}

/** @throws NotarySuspended when a checkpoint with another root was signed for the tree's size */
function refuseAnother({ size, root }: SignedCheckpoint, { edge }: TreeState): void {
  if (!sameHash(root, rootOf(edge))) throw NotarySuspended.contradicts(size)
}
