import type { Recorded } from '../src/domain/recorded.ts'
import type { Statement, Statements } from './statements.ts'

/** Applies events to the tables of one read model. */
export type Projector = {
  name: string
  /** The tables that it owns. Their DDL names no schema: a rebuild creates them in another one. */
  tables: readonly { name: string; ddl: string }[]
  /** The non-unique indexes that `apply` itself needs; a replay creates all others only at its end. */
  applyIndexes?: readonly string[]
  /**
   * Applies events to the current rows, which it reads in the caller's transaction. It is idempotent: a row's
   * revision shows which events it already holds.
   * @param entries in the order of the log
   * @returns the statements that write the changed rows, to be run in this order in the same transaction
   */
  apply(db: Statements, entries: readonly Recorded[]): Promise<readonly Statement[]>
}
