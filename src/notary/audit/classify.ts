import type { EventPlace } from '../tree-store.ts'
import { type Alignment, type AuditLeaf, align, type Windows } from './align.ts'
import type { LogProblemKind } from './findings.ts'

/** An event of the log at the place of a difference. */
export type PlacedLeaf = AuditLeaf & { place: EventPlace }

/** The first difference, as far as the windows tell. */
export type Difference = {
  kind: LogProblemKind
  /** How many events of the log, and how many leaves, it takes to be the same again; the windows' lengths if never. */
  log: number
  tree: number
  /** Later events of the same stream have other revisions than when they were hashed. */
  renumbered: boolean
  /** For an event that moved: how many places before (negative) or after its own place it stands now. */
  movedBy: number
}

/**
 * Says what happened at the first difference of the log and the tree.
 * @param windows both from there on; at least the tree has a leaf there
 * @param last the event of the last leaf, which matters when the difference reaches the end of the tree
 */
export function classify(windows: Windows<PlacedLeaf>, last: EventPlace | undefined): Difference {
  const { log, tree } = windows
  if (log.length === 0)
    return { kind: 'ends_early', log: 0, tree: tree.length, renumbered: false, movedBy: 0 }
  const found = align(windows) ?? atEnd(windows, last)
  if (!found) {
    const lacksLast = windows.treeEnds && tree.length === 1
    const kind = lacksLast ? 'missing' : 'other_log'
    return { kind, log: lacksLast ? 0 : log.length, tree: tree.length, renumbered: false, movedBy: 0 }
  }
  return firstOnly(windows, { ...found, ...kindOf(windows, found) })
}

/** Where several events are missing or were added, with others between them, only the first of them are counted. */
function firstOnly({ log, tree }: Windows, found: Difference): Difference {
  if (found.log === 0 || found.tree === 0) return found
  if (found.kind === 'missing') return { ...found, log: 0, tree: tree.indexOf(log[0]?.hash ?? '') }
  if (found.kind === 'added') return { ...found, log: log.findIndex(({ hash }) => hash === tree[0]), tree: 0 }
  return found
}

/** Where nothing follows the difference that could be the same again, the event of the last leaf is searched. */
function atEnd(windows: Windows<PlacedLeaf>, last: EventPlace | undefined): Alignment | undefined {
  const { log, tree, treeEnds } = windows
  if (!treeEnds) return undefined
  const all = { log: tree.length, tree: tree.length, renumbered: false }
  if (isReordered(windows, all) || areExchanged(windows, all)) return all
  const at = log.findIndex(({ place }) => place.id === last?.id)
  const [first] = log
  // With another id, it is the same event only if nothing else was hashed from here on.
  const isLast =
    tree.length === 1 && first?.place.stream === last?.stream && first?.place.revision === last?.revision
  if (at === -1 && isLast) return { log: 1, tree: 1, renumbered: false }
  return at === -1 ? undefined : { log: at + 1, tree: tree.length, renumbered: false }
}

function kindOf(windows: Windows, found: Alignment): Pick<Difference, 'kind' | 'movedBy'> {
  const { log, tree } = windows
  const still = (kind: LogProblemKind) => ({ kind, movedBy: 0 })
  if (found.log === 0) {
    const at = found.tree === 1 ? log.findIndex(({ hash }) => hash === tree[0]) : -1
    if (at === 1) return still('swapped')
    return at === -1 ? still('missing') : { kind: 'moved', movedBy: at }
  }
  if (found.tree === 0) {
    const at = found.log === 1 ? tree.indexOf(log[0]?.hash ?? '') : -1
    if (at === 1) return still('swapped')
    return at === -1 ? still('added') : { kind: 'moved', movedBy: -at }
  }
  if (areExchanged(windows, found)) return still('swapped')
  const [inLog, inTree] = [log.slice(0, found.log).map(({ hash }) => hash), tree.slice(0, found.tree)]
  if (isPartOf(inLog, inTree)) return still('missing')
  if (isPartOf(inTree, inLog)) return still('added')
  if (isReordered(windows, found)) return movedWithin(windows)
  return still(found.log === found.tree ? 'changed' : 'replaced')
}

/** Two events in a row have changed places; within one stream, each may have taken the other's revision, too. */
function areExchanged({ log, tree }: Windows, found: Pick<Alignment, 'log' | 'tree'>): boolean {
  if (found.log !== 2 || found.tree !== 2) return false
  const [one, other] = log
  if (!one || !other) return false
  return (
    (one.hash === tree[1] && other.hash === tree[0]) ||
    (one.hashAt(1) === tree[1] && other.hashAt(-1) === tree[0])
  )
}

/** Whether these are some of the others, in the same order. */
function isPartOf(some: readonly string[], all: readonly string[]): boolean {
  let found = 0
  for (const one of all) if (one === some[found]) found += 1
  return found === some.length
}

function isReordered({ log, tree }: Windows, found: Pick<Alignment, 'log' | 'tree'>): boolean {
  if (found.log !== found.tree || found.tree < 2) return false
  const hashes = log.slice(0, found.log).map(({ hash }) => hash)
  return new Set([...hashes, ...tree.slice(0, found.tree)]).size === found.tree
}

const movedWithin = ({ log, tree }: Windows): Pick<Difference, 'kind' | 'movedBy'> => ({
  kind: 'moved',
  movedBy: -tree.indexOf(log[0]?.hash ?? ''),
})
