import type { Filter } from 'scim2-parse-filter'
import { z } from 'zod'
import { parseFilter } from './filter.ts'
import { lowered, valueBy, wrong } from './read.ts'

/** One change of one attribute. */
export type Change = {
  op: 'add' | 'replace' | 'remove'
  /** In lowercase, without the schema: `name`. */
  attribute: string
  /** The condition in brackets. */
  filter: Filter | undefined
  /** `givenname` in `name.givenName`; undefined for the whole attribute. */
  part: string | undefined
  /** Names of attributes are in lowercase. */
  value: unknown
}

const Operation = z.object({
  op: z.string().transform((op) => op.toLowerCase()),
  path: z.string().max(1000).nullish(),
  value: z.unknown().optional(),
})
const Body = z.object({ operations: z.array(Operation).min(1).max(500) })
const Op = z.enum(['add', 'replace', 'remove'])

/**
 * Reads the operations of a PATCH, each attribute of a value without a path on its own.
 * @param urn the schema of the resource; attributes of others are left out, since none of them is kept
 * @throws Problem 400
 */
export function readPatch(body: unknown, urn: string): Change[] {
  const { data, error } = Body.safeParse(lowered(body))
  if (error)
    throw wrong('invalidSyntax', 'send an object with Operations: each has op, and path or value or both')
  return data.operations.flatMap(({ op: named, path, value }) => {
    const op = valueBy(Op, named, 'op')
    if (path !== undefined && path !== null && path !== '') return changeAt(op, path, value, urn)
    if (op === 'remove')
      throw wrong('noTarget', 'remove needs a path: name the attribute that is to be removed')
    if (typeof value !== 'object' || value === null || Array.isArray(value))
      throw wrong('invalidValue', 'without a path, value must be an object with the attributes to set')
    return Object.entries(value).flatMap(([name, inner]) => changeAt(op, name, inner, urn))
  })
}

const written = /^([a-z$][\w$-]*)(?:\[(.*)\])?(?:\.([a-z$][\w$-]*))?$/i

function changeAt(op: Change['op'], path: string, value: unknown, urn: string): Change[] {
  const own = `${urn}:`.toLowerCase()
  const isOwn = path.toLowerCase().startsWith(own)
  if (path.toLowerCase() === urn.toLowerCase() && typeof value === 'object' && value !== null)
    return Object.entries(value).flatMap(([name, inner]) => changeAt(op, name, inner, urn))
  if (!isOwn && /^urn:/i.test(path)) return []
  const [, attribute, condition, part] = written.exec(isOwn ? path.slice(own.length) : path) ?? []
  if (attribute === undefined)
    throw wrong('invalidPath', 'path must name an attribute, such as active or members[value eq "…"]')
  const filter = condition === undefined ? undefined : parseFilter(condition)
  return [{ op, attribute: attribute.toLowerCase(), filter, part: part?.toLowerCase(), value }]
}
