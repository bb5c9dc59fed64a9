import { z } from 'zod'
import { EntitlementValue } from '../../domain/products/entitlement-values.ts'
import type { ApiLists } from '../api/lists.ts'
import type { ExportItem } from '../files/items.ts'
import type { ForeignLicense, ForeignOrganization, ForeignPolicy, SourceName, Unusable } from '../foreign.ts'

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
  pieceOf(item: ExportItem): Piece | Piece[] | string | undefined
  /** The licenses among the pieces of one group. */
  licensesIn(pieces: readonly Piece[], shared: Shared): (ForeignLicense | Unusable)[]
  policiesIn(shared: Shared): ForeignPolicy[]
  /** The organizations that are known beside licenses. Absent where the system has none. */
  organizationsIn?(shared: Shared): ForeignOrganization[]
  /** A policy that licenses name and that the export does not have. */
  policyNamed(policyId: string): ForeignPolicy
  /** How its API is read; undefined when it has none that lists licenses. */
  api?: ApiLists
}

/** What is computed once from all the shared pieces of an export, such as an index. */
export function onceFor<T>(compute: (shared: Shared) => T): (shared: Shared) => T {
  const known = new WeakMap<Shared, { value: T }>()
  return (shared) => {
    const computed = known.get(shared) ?? { value: compute(shared) }
    known.set(shared, computed)
    return computed.value
  }
}

const Link = z.looseObject({ data: z.looseObject({ id: z.coerce.string() }).nullish() })

/** A resource of JSON:API. */
export const Resource = z.looseObject({
  type: z.string(),
  id: z.coerce.string(),
  attributes: z.record(z.string(), z.unknown()).default({}),
  relationships: z.record(z.string(), Link.catch({})).default({}),
})
export type Resource = z.infer<typeof Resource>

/** The id of a related resource. */
export const relatedId = ({ relationships }: Resource, name: string): string | null =>
  relationships[name]?.data?.id ?? null

/** A text of another system; null for an empty one and for anything else. */
export const textOf = (value: unknown): string | null =>
  typeof value === 'string' && value !== '' ? value : typeof value === 'number' ? String(value) : null

/** A whole number of another system; null for anything else. */
export const wholeOf = (value: unknown): number | null =>
  typeof value === 'number' && Number.isSafeInteger(value) ? value : null

/**
 * The value of an entitlement that another system has as text: a number where the text is how a number is written.
 * @returns undefined for a text that is too long for a value
 */
export function valueInText(text: string): EntitlementValue | undefined {
  const number = Number(text)
  const isNumber = Number.isFinite(number) && String(number) === text
  return EntitlementValue.safeParse(text === 'true' ? true : isNumber ? number : text).data
}

/** Whether a flag is set; some systems send 0 and 1. */
export const isSet = (value: unknown): boolean => value === true || value === 1 || value === '1'

/** Fields as text, for metadata; those without a value are left out. */
export function textFields(fields: unknown): Record<string, string> {
  if (typeof fields !== 'object' || fields === null) return {}
  return Object.fromEntries(
    Object.entries(fields).flatMap(([name, value]: [string, unknown]) => {
      const text = typeof value === 'string' ? value : JSON.stringify(value)
      return value == null || text === '' || text === undefined ? [] : [[name, text]]
    }),
  )
}

/** The data of pieces of one kind, parsed. */
export function dataOf<S extends z.ZodType>(
  pieces: readonly { kind: string; data: unknown }[],
  kind: string,
  schema: S,
): z.infer<S>[] {
  return pieces.flatMap((piece) => (piece.kind === kind ? [schema.parse(piece.data)] : []))
}
