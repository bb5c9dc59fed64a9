/** An event of the log, with the leaf hash that it has now and the ones that it would have at nearby revisions. */
export type AuditLeaf = {
  /** In hexadecimal. */
  hash: string
  /** The hash that it would have at another revision of its stream. */
  hashAt: (step: number) => string
}

/** The log and the tree from their first difference on, as far as they were read. */
export type Windows<Leaf extends AuditLeaf = AuditLeaf> = {
  log: readonly Leaf[]
  /** Leaf hashes in hexadecimal. */
  tree: readonly string[]
  logEnds: boolean
  treeEnds: boolean
}

/** How many events of the log stand where so many leaves were hashed; after them, both are the same again. */
export type Alignment = { log: number; tree: number; renumbered: boolean }

/** So many equal events in a row are no coincidence of two changes side by side. */
const equalRun = 3
/** Renumbered events are searched near the difference only, because each needs three hashes. */
const maxRenumbered = 64

/**
 * Finds the shortest explanation of a difference: what has to be left out of both for the rest to be the same.
 * @returns undefined when they are never the same again within the windows
 */
export function align(windows: Windows): Alignment | undefined {
  const plain = shortest(windows, (leaf, hash) => leaf.hash === hash)
  const isPlain = plain && (plain.log === 0 || plain.tree === 0 || (plain.log === 1 && plain.tree === 1))
  if (isPlain) return { ...plain, renumbered: false }
  const near: Windows = {
    log: windows.log.slice(0, maxRenumbered),
    tree: windows.tree.slice(0, maxRenumbered),
    logEnds: windows.logEnds && windows.log.length <= maxRenumbered,
    treeEnds: windows.treeEnds && windows.tree.length <= maxRenumbered,
  }
  const same = (leaf: AuditLeaf, hash: string) =>
    leaf.hash === hash || leaf.hashAt(1) === hash || leaf.hashAt(-1) === hash
  const renumbered = shortest(near, same)
  if (renumbered && (renumbered.log === 0 || renumbered.tree === 0))
    return { ...renumbered, renumbered: true }
  return plain && { ...plain, renumbered: false }
}

function shortest(
  { log, tree, logEnds, treeEnds }: Windows,
  same: (leaf: AuditLeaf, hash: string) => boolean,
): { log: number; tree: number } | undefined {
  const isSameAfter = (inLog: number, inTree: number): boolean => {
    const left = { log: log.length - inLog, tree: tree.length - inTree }
    const run = Math.min(equalRun, left.log, left.tree)
    if (run === 0) return false
    // A shorter run counts only where the log or the tree is at its end.
    if (run < equalRun && !(left.tree === run && treeEnds) && !(left.log === run && logEnds)) return false
    for (let at = 0; at < run; at += 1) {
      const [leaf, hash] = [log[inLog + at], tree[inTree + at]]
      if (!leaf || hash === undefined || !same(leaf, hash)) return false
    }
    return true
  }
  for (let skipped = 1; skipped <= log.length + tree.length; skipped += 1) {
    for (let inLog = Math.max(0, skipped - tree.length); inLog <= Math.min(skipped, log.length); inLog += 1)
      if (isSameAfter(inLog, skipped - inLog)) return { log: inLog, tree: skipped - inLog }
  }
  return undefined
}
