import { setTimeout as pause } from 'node:timers/promises'
import type { ClientBase, Pool } from 'pg'
import { withOwnConnection } from '../../projections/runner/own-connection.ts'
import type { Ledger } from '../ledger/ledger.ts'
import type { LogSource } from '../ledger/raw/log.ts'
import { type NotarySigner, readCheckpoint, signCheckpoint } from './checkpoints.ts'
import { leafOf } from './leaves.ts'
import { addLeaves, type EventPlace, readTree, type TreeState } from './tree-store.ts'

/** The log lacks events that are in the tree. */
class LogOlderThanTree extends Error {
  constructor({ stream, revision }: EventPlace) {
    super(
      `the log lacks the event ${stream} at ${String(revision)}, which the notary has hashed and may have published: ` +
        'the log is an older copy, or events were removed. Nothing is signed until the events are there again.',
    )
  }
}

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
}

/** Follows the log until the signal aborts, and signs what was hashed. @throws LogOlderThanTree */
export async function followLog(options: NotaryOptions, signal: AbortSignal): Promise<void> {
  const { db, pollMs = 500 } = options
  await withOwnConnection(db, async (client) => {
    const tree = await readTree(client)
    let progress: Progress = { tree, position: await positionOfLast(options, tree) }
    while (!signal.aborted) {
      progress = await hashToEnd(options, client, progress, signal)
      await signIfNew(options, progress.tree)
      await pause(pollMs, undefined, { signal }).catch(() => undefined)
    }
  })
}

/** The tree, and the position up to which the log was read for it. */
type Progress = { tree: TreeState; position: bigint | undefined }

/**
 * Positions are no part of the tree: in a copy of the log they are others, and the events are the same.
 * @throws LogOlderThanTree
 */
async function positionOfLast({ ledger }: NotaryOptions, { last }: TreeState): Promise<bigint | undefined> {
  if (!last) return undefined
  const found = await ledger.eventOf(last.stream, last.revision)
  if (found?.id !== last.id) throw new LogOlderThanTree(last)
  return found.position
}

async function hashToEnd(
  options: NotaryOptions,
  client: ClientBase,
  begun: Progress,
  signal: AbortSignal,
): Promise<Progress> {
  const { log, checkpointMs = 1000 } = options
  let { tree, position } = begun
  let signed = performance.now()
  for await (const { events, through } of log.pages(position)) {
    const [first, ...rest] = events
    if (first) tree = await addLeaves(client, tree, [leafOf(first), ...rest.map(leafOf)])
    position = through
    if (performance.now() - signed >= checkpointMs) {
      await signIfNew(options, tree)
      signed = performance.now()
    }
    if (signal.aborted) break
  }
  return { tree, position }
}

async function signIfNew({ db, signer, now }: NotaryOptions, { edge }: TreeState): Promise<void> {
  const last = await readCheckpoint(db)
  if (last?.size !== edge.size) await signCheckpoint(db, signer, edge, now())
}
