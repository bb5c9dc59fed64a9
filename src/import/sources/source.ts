import type { ApiLists } from '../api/lists.ts'
import type { ExportItem } from '../files/items.ts'
import type { ForeignLicense, ForeignPolicy, SourceName, Unusable } from '../foreign.ts'

/** One object of an export: what it is, and the license that it belongs to. */
export type Piece = {
  kind: string
  /** The object's own id, so that an object that was read twice counts once. */
  id: string
  /** What the pieces of one license have in common; null for what many licenses refer to, such as a policy. */
  group: string | null
  from: string
  data: unknown
}

/** The pieces without a group, by kind and id. They are kept in memory. */
export type Shared = {
  get(kind: string, id: string | null | undefined): unknown
  all(kind: string): ReadonlyMap<string, unknown>
}

/** How one system's export becomes licenses. All functions are pure. */
export type Source = {
  name: SourceName
  /** @returns undefined for an object that an import does not need, a text when it cannot be read */
  pieceOf(item: ExportItem): Piece | string | undefined
  /** The licenses among the pieces of one group. */
  licensesIn(pieces: readonly Piece[], shared: Shared): (ForeignLicense | Unusable)[]
  policiesIn(shared: Shared): ForeignPolicy[]
  /** A policy that licenses name and that the export does not have. */
  policyNamed(policyId: string): ForeignPolicy
  /** How its API is read; undefined when it has none that lists licenses. */
  api?: ApiLists
}
