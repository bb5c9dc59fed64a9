import { setTimeout as pause } from 'node:timers/promises'
import type { ClientBase, Pool } from 'pg'
import { withOwnConnection } from '../../projections/runner/own-connection.ts'
import { notaryStream } from '../domain/streams.ts'
import type { Ledger } from '../ledger/ledger.ts'
import type { LogSource } from '../ledger/raw/log.ts'
import { rootOf } from '../transparency/tree/edge.ts'
import { sameHash } from '../transparency/tree/hash.ts'
import { type NotarySigner, readCheckpoint, type SignedCheckpoint, signCheckpoint } from './checkpoints.ts'
import { forgetOtherPositions } from './covering.ts'
import { leafOf } from './leaves.ts'
import { NotarySuspended } from './suspended.ts'
import { addLeaves, openTree, type TreeState } from './tree-store.ts'

export type NotaryOptions = {
  db: Pool
  log: LogSource
  ledger: Pick<Ledger, 'eventOf'>
  signer: NotarySigner
  now: () => Date
  /** How long to wait at the end of the log. */
  pollMs?: number
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
  const { db, signer, pollMs = 500 } = options
  await withOwnConnection(db, async (client) => {
    const tree = await openTree(client, signer.origin)
    await forgetOtherPositions(db, options.ledger)
    const position = await positionOfLast(options, tree)
    let progress: Progress = { tree, position, last: position, signerChanged: false }
    while (!signal.aborted) {
      progress = await hashToEnd(options, client, progress, signal)
      if (progress.signerChanged) return
      await signIfNew(options, progress)
      await pause(pollMs, undefined, { signal }).catch(() => undefined)
    }
  })
}

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
  begun: Progress,
  signal: AbortSignal,
): Promise<Progress> {
  const { log, checkpointMs = 1000 } = options
  let { tree, position, last, signerChanged } = begun
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

async function signIfNew(
  { db, signer, now, onCheckpoint }: NotaryOptions,
  { tree, last: position }: Pick<Progress, 'tree' | 'last'>,
): Promise<void> {
  const last = await readCheckpoint(db)
  const { size } = tree.edge
  // Smaller than a checkpoint that was published: the tree is being computed again.
  if (size < (last?.size ?? 1)) return
  if (size === last?.size) return refuseAnother(last, tree)
  const checkpoint = await signCheckpoint(db, signer, tree, now(), position)
  onCheckpoint?.(checkpoint)
}

/** @throws NotarySuspended when a checkpoint with another root was signed for the tree's size */
function refuseAnother({ size, root }: SignedCheckpoint, { edge }: TreeState): void {
  if (!sameHash(root, rootOf(edge))) throw NotarySuspended.contradicts(size)
}
