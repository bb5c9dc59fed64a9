import { z } from 'zod'
import { type Attributes, parseFilter, predicateOf } from './filter.ts'
import { valueBy } from './read.ts'

/** How many resources a page has at most, and unless the request says how many. */
export const mostOnPage = 200
const onPage = 100

const whole = z
  .string()
  .regex(/^-?\d{1,9}$/, 'must be a whole number')
  .transform(Number)

const selection = z
  .string()
  .max(1000)
  .optional()
  .transform((names) => names?.split(',').map((name) => topName(name)))

/** The name of the attribute that a path begins with, in lowercase: `name` of `name.givenName`. */
const topName = (path: string): string => {
  const name = path.trim().toLowerCase()
  return (name.slice(name.lastIndexOf(':') + 1).split('.', 1)[0] ?? '').trim()
}

/** The parameters of requests that answer one resource. */
export const OneQuery = z.object({ attributes: selection, excludedAttributes: selection })

export const ListQuery = OneQuery.extend({
  filter: z.string().optional(),
  startIndex: whole.optional(),
  count: whole.optional(),
})

/** Which attributes an answer has: `id` and `schemas` always. */
export function selected<T extends object>(resource: T, query: unknown): object {
  const { attributes, excludedAttributes } = valueBy(OneQuery, query, 'the query')
  const always = new Set(['id', 'schemas'])
  return Object.fromEntries(
    Object.entries(resource).filter(([name]) => {
      const given = name.toLowerCase()
      if (always.has(given)) return true
      return attributes ? attributes.includes(given) : !excludedAttributes?.includes(given)
    }),
  )
}

/** The page of resources that a query asks for, by RFC 7644, section 3.4.2. @throws Problem 400 */
export function pageOf<T>(
  resources: readonly T[],
  query: unknown,
  known: Attributes<T>,
  urn: string,
  view: (resource: T) => object,
) {
  const { filter, startIndex = 1, count = onPage } = valueBy(ListQuery, query, 'the query')
  const fits = filter === undefined ? () => true : predicateOf(parseFilter(filter), known, urn)
  const found = resources.filter(fits)
  const first = Math.max(1, startIndex)
  const size = Math.min(mostOnPage, Math.max(0, count))
  const page = found.slice(first - 1, first - 1 + size)
  return {
    schemas: ['urn:ietf:params:scim:api:messages:2.0:ListResponse'],
    totalResults: found.length,
    startIndex: first,
    itemsPerPage: page.length,
    Resources: page.map((resource) => selected(view(resource), query)),
  }
}

/** An answer with all resources of a kind that never has many. */
export const listOf = (resources: readonly object[]) => ({
  schemas: ['urn:ietf:params:scim:api:messages:2.0:ListResponse'],
  totalResults: resources.length,
  startIndex: 1,
  itemsPerPage: resources.length,
  Resources: resources,
})
