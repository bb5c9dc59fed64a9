import type { Pool } from 'pg'
import type { Ledger } from '../../ledger/ledger.ts'
import type { LogSource } from '../../ledger/raw/log.ts'
import type { Checkpoint } from '../../transparency/checkpoint.ts'
import type { VerifierKey } from '../../transparency/note/verifier.ts'
import { type Hash, sameHash } from '../../transparency/tree/edge.ts'
import { tileWidth } from '../../transparency/tree/tiles.ts'
import { readCheckpoint } from '../checkpoints.ts'
import { type EventPlace, firstEventOfTile, readTree } from '../tree-store.ts'
import { checkStored, type KeptCheckpoint, readKept } from './checkpoints.ts'
import { classify, type Difference } from './classify.ts'
import { compareWithTree, type Divergence, findGap } from './compare.ts'
import { type AuditProblem, type AuditReport, treeProblem } from './findings.ts'
import { inWords } from './sentences.ts'
import { computeStoredTree, type StoredTree } from './stored-tree.ts'

export type AuditOptions = {
  db: Pool
  log: LogSource
  ledger: Pick<Ledger, 'eventOf'>
  /** The keys that the checkpoint may be signed with. Without any, no signature is verified. */
  keys: readonly VerifierKey[]
  /** Checkpoints that somebody kept where the owner of the database cannot change them. */
  kept?: readonly KeptCheckpoint[] | undefined
  /** Called with how many leaves were compared, and how many there are. */
  onProgress?: ((events: number, size: number) => void) | undefined
  signal?: AbortSignal | undefined
}

/**
 * Compares the whole log with the tree, the tree with the last signed checkpoint, and both with kept checkpoints. It may
 * run while the notary does.
 * @returns what was compared, and the first difference of each kind: of the tree, of each checkpoint, and of the log
 * @throws LedgerUnavailable, the errors of the database, and the signal's reason
 */
export async function auditLog(options: AuditOptions): Promise<AuditReport> {
  const { db, keys, signal, onProgress } = options
  // In this order: the tree only grows, so it has all leaves of the checkpoint.
  const signed = await readCheckpoint(db)
  const { edge, last } = await readTree(db)
  const { size } = edge
  const kept = (options.kept ?? []).map((one) => ({ name: one.name, ...readKept(one, keys) }))
  const known = kept.flatMap(({ name, checkpoint }) => (checkpoint ? [{ name, checkpoint }] : []))

  const sizes = [...known.map(({ checkpoint }) => checkpoint.size), ...(signed ? [signed.size] : [])]
  const stored = await computeStoredTree(db, edge, new Set(sizes.filter((one) => one <= size)), signal)
  const ofTree = signed && problemOfTree(stored, signed, size)
  const ofSoundness =
    stored.problem && treeProblem('tree', notSigned(stored.problem.says), stored.problem.index)

  const comparison = await compareWithTree({
    db,
    log: options.log,
    size: Math.min(size, stored.problem?.incomplete ? stored.problem.index : size),
    // Where the tree does not show it, the log itself has to show whether it is the signed one.
    rootsAt: [...(ofTree ? [signed.size] : []), ...sizes.filter((one) => one > size)],
    onProgress: (events) => onProgress?.(events, size),
    signal,
  })
  const { divergence, roots } = comparison
  const isLogSigned = signed !== undefined && isRoot(roots, signed)
  // After a restore, the notary computes the tree again, and has not come as far as the checkpoint yet.
  const isBehind = isLogSigned && !divergence && !stored.problem && signed.size > size
  const problems = [
    signed && checkStored(signed, keys),
    ...kept.map(({ problem }) => problem),
    isBehind ? undefined : (ofTree ?? ofSoundness),
    ofTree && isLogSigned ? logIsSigned(divergence) : undefined,
    ...known
      .filter(({ checkpoint }) => !isRoot(stored.roots, checkpoint) && !isRoot(roots, checkpoint))
      .map((one) => problemOfKept(one, signed?.size ?? 0, size)),
    divergence && !isLogSigned ? await problemOfLog(options, divergence, size, last) : undefined,
  ]
  return {
    events: comparison.events,
    size,
    checkpoint: signed ? { size: signed.size, signedAt: signed.signedAt } : null,
    kept: known.map(({ checkpoint }) => checkpoint.size),
    verified: keys.length > 0,
    problems: problems.filter((problem) => problem !== undefined),
  }
}

const isRoot = (roots: ReadonlyMap<number, Hash>, of: { size: number; root: Hash }): boolean => {
  const root = roots.get(of.size)
  return root !== undefined && sameHash(root, of.root)
}

const notSigned = (why: string): string => `the tree in the database is not the one that was signed: ${why}`

function problemOfTree(
  { roots }: StoredTree,
  signed: { size: number; root: Hash },
  size: number,
): AuditProblem | undefined {
  if (signed.size > size)
    return treeProblem(
      'tree',
      notSigned(`it has ${String(size)} leaves, and ${String(signed.size)} were signed`),
      size,
    )
  if (isRoot(roots, signed)) return undefined
  return treeProblem('tree', notSigned(`its first ${String(signed.size)} leaves have another root`))
}

/** The log has the signed root, and the tree does not: the events are whole. */
const logIsSigned = (divergence: Divergence | undefined): AuditProblem | undefined =>
  divergence &&
  treeProblem(
    'tree',
    `the log is the one that was signed; the first wrong leaf of the tree in the database is at index ${String(divergence.index)}`,
    divergence.index,
  )

function problemOfKept(
  { name, checkpoint }: { name: string; checkpoint: Checkpoint },
  signedSize: number,
  size: number,
): AuditProblem {
  const events = String(checkpoint.size)
  if (checkpoint.size > size)
    return treeProblem(
      'kept_checkpoint',
      `the kept checkpoint ${name} is about ${events} events, and the tree in the database has only ${String(size)}: ` +
        'it is an older copy, or its end was removed',
      size,
    )
  const fork =
    checkpoint.size === signedSize
      ? `two trees of ${events} events were signed: the kept checkpoint ${name} has another root than the one in the database`
      : `the first ${events} events are not those of the kept checkpoint ${name}: the tree was made anew after one of them had been changed`
  return treeProblem('kept_checkpoint', fork)
}

async function problemOfLog(
  options: AuditOptions,
  divergence: Divergence,
  size: number,
  last: EventPlace | undefined,
): Promise<AuditProblem> {
  const { index, log } = divergence
  const found = classify(divergence, last)
  const isMoved = found.kind === 'moved' && found.movedBy > 0
  const hasEvent = found.kind !== 'missing' && found.kind !== 'ends_early'
  const event = (hasEvent ? log[isMoved ? found.movedBy : 0]?.place : undefined) ?? null
  const after = log[isMoved ? 0 : afterOf(found)]?.place ?? null
  const before = divergence.before ?? null
  const was = (await wasOf(options, divergence, found, size, last)) ?? null
  const says = inWords(found, { index, event, before, after, was, last: last ?? null, size })
  const count = found.kind === 'ends_early' ? size - index : Math.max(found.log, found.tree)
  return { kind: found.kind, index, event, before, after, count, was, says }
}

/** Where the first event stands that follows the difference. */
function afterOf({ kind, log }: Difference): number {
  if (kind === 'swapped' || kind === 'moved') return 1
  return log
}

/** Renumbering an event by hand seldom goes further. */
const maxRevisionsTried = 1000

/** What was hashed there, as far as it can be known without the event. */
async function wasOf(
  options: AuditOptions,
  { index, log, tree }: Divergence,
  found: Difference,
  size: number,
  last: EventPlace | undefined,
): Promise<Omit<EventPlace, 'id'> | undefined> {
  if (found.kind === 'changed' && found.log === 1) {
    const [leaf] = log
    if (!leaf) return undefined
    const { stream, revision } = leaf.place
    for (let tried = 0; tried < maxRevisionsTried; tried += 1) {
      for (const step of [tried, -tried])
        if (step !== 0 && revision + step >= 0 && leaf.hashAt(step) === tree[0])
          return { stream, revision: revision + step }
    }
    return undefined
  }
  if (found.kind !== 'missing' && found.kind !== 'ends_early') return undefined
  if (index === size - 1 && last) return { stream: last.stream, revision: last.revision }
  if (index % tileWidth === 0) return firstEventOfTile(options.db, index / tileWidth)
  return found.kind === 'missing' && !found.renumbered ? findGap(options, index) : undefined
}
