import type { Recorded } from '../src/domain/recorded.ts'
import type { Statement, Statements } from './statements.ts'

/** Folds events into the tables of one read model. */
export type Projector = {
  name: string
  /** The tables it owns and how to make them, without a schema: they are made in whichever is being filled. */
  tables: readonly string[]
  ddl: string
  /** Those of its indexes, beside the unique ones, that `fold` itself asks by. */
  applyIndexes?: readonly string[]
  /**
   * Folds events, in the order of the log, onto what the tables hold, asked for inside the caller's transaction.
   * Folding the same ones again changes nothing: what a row already holds is told from its revision.
   * @returns what writes the rows that have changed, to be run in this order in the same transaction
   */
  apply(db: Statements, entries: readonly Recorded[]): Promise<readonly Statement[]>
}
