import { type Filter, parse } from 'scim2-parse-filter'
import { wrong } from './read.ts'

/** Long enough for every filter that a directory sends, and short enough for the parser's recursion. */
const longest = 1000

/** @throws Problem 400 with `invalidFilter` */
export function parseFilter(text: string): Filter {
  if (text.length > longest)
    throw wrong('invalidFilter', `the filter is longer than ${longest} characters; send a shorter one`)
  try {
    return parse(text)
  } catch {
    throw wrong(
      'invalidFilter',
      'the filter cannot be read; write it as attribute eq "value", and join several with and',
    )
  }
}

/** The values of an attribute of a resource. `exact`: text is compared with its case. */
type Attribute<T> = { values: (resource: T) => readonly unknown[]; exact: boolean }

/** By name in lowercase, with the parent's before a dot: `emails.value`. */
export type Attributes<T> = Readonly<Record<string, Attribute<T>>>

/**
 * Makes a test of a filter. A value in brackets, `emails[type eq "work"]`, is that of its parts.
 * @param urn the schema whose name may stand before an attribute
 * @throws Problem 400 with `invalidFilter` for other attributes, and for operators besides `eq` and `and`
 */
export function predicateOf<T>(filter: Filter, known: Attributes<T>, urn: string): (resource: T) => boolean {
  const of = (part: Filter, prefix: string): ((resource: T) => boolean) => {
    if (part.op === 'and' && 'filters' in part) {
      const all = part.filters.map((one) => of(one, prefix))
      return (resource) => all.every((fits) => fits(resource))
    }
    if (part.op === '[]' && 'valFilter' in part) return of(part.valFilter, `${nameIn(part.attrPath, urn)}.`)
    if (part.op !== 'eq' || !('compValue' in part))
      throw wrong(
        'invalidFilter',
        `the operator ${part.op} is not supported; use eq, and join several with and`,
      )
    const name = `${prefix}${nameIn(part.attrPath, urn)}`
    const attribute = Object.hasOwn(known, name) ? known[name] : undefined
    if (!attribute)
      throw wrong('invalidFilter', `the filter cannot use ${name}; use ${Object.keys(known).join(', ')}`)
    const wanted = comparable(part.compValue, attribute.exact)
    return (resource) =>
      attribute.values(resource).some((value) => comparable(value, attribute.exact) === wanted)
  }
  return of(filter, '')
}

const comparable = (value: unknown, exact: boolean): unknown => {
  if (exact || typeof value !== 'string') return value
  return value.toLowerCase()
}

/** The name in lowercase, without the schema. */
function nameIn(path: string, urn: string): string {
  const name = path.toLowerCase()
  const prefix = `${urn.toLowerCase()}:`
  return name.startsWith(prefix) ? name.slice(prefix.length) : name
}
