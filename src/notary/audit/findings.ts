import type { EventPlace } from '../tree-store.ts'

/** What is wrong with the log, compared with the leaves that were hashed. */
export type LogProblemKind =
  | 'changed'
  | 'missing'
  | 'added'
  | 'swapped'
  | 'moved'
  | 'replaced'
  | 'ends_early'
  | 'other_log'

/** What is wrong with what is stored or kept of the tree. */
export type TreeProblemKind = 'tree' | 'checkpoint' | 'foreign_key' | 'kept_checkpoint'

/** Something that the audit found. */
export type AuditProblem = {
  kind: LogProblemKind | TreeProblemKind
  /** The first leaf that it is about; null when it is about none. */
  index: number | null
  /** What the log has at that place; null when it has nothing there. */
  event: EventPlace | null
  /** The events of the log around the place. */
  before: EventPlace | null
  after: EventPlace | null
  /** How many events were changed, removed or added there. */
  count: number
  /** The event that the log lacks, or that was hashed under another revision, as far as that can be known. */
  was: Omit<EventPlace, 'id'> | null
  /** A sentence for people. */
  says: string
}

/** A problem that is about the tree as a whole. */
export const treeProblem = (
  kind: TreeProblemKind,
  says: string,
  index: number | null = null,
): AuditProblem => ({ kind, index, event: null, before: null, after: null, count: 0, was: null, says })

/** What the audit compared, and what it found. */
export type AuditReport = {
  /** How many leaves were compared with the log. */
  events: number
  /** The size of the tree in the database. */
  size: number
  checkpoint: { size: number; signedAt: string } | null
  /** The sizes of the kept checkpoints that were compared. */
  kept: number[]
  /** Whether the checkpoint's signature was verified: without a key nobody can. */
  verified: boolean
  /** Empty when all is as it was signed. */
  problems: AuditProblem[]
}
