import type { Recorded } from '../src/domain/recorded.ts'
import type { Statements } from './statements.ts'

/** Folds events into the tables of one read model. */
export type Projector = {
  name: string
  /** The tables it owns and how to make them, without a schema: they are made in whichever is being filled. */
  tables: readonly string[]
  ddl: string
  /** Those of its indexes, beside the unique ones, that `apply` itself asks by. */
  foldsBy?: readonly string[]
  /**
   * Applies events in the order of the log, inside the caller's transaction. Applying the same ones again changes
   * nothing: what a row already holds is told from its revision.
   */
  apply(db: Statements, entries: readonly Recorded[]): Promise<void>
}
