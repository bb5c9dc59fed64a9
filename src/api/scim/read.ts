import { z } from 'zod'
import { inputWords, sentenceOf } from '../../domain/input-words.ts'
import { isPlain, notPlain } from '../../domain/values.ts'
import { Problem } from '../../http/problem.ts'
import type { ScimType } from '../../http/scim-errors.ts'

/** A 400 by RFC 7644, section 3.12. */
export const wrong = (scimType: ScimType, detail: string): Problem =>
  new Problem(400, 'invalid_request', detail, {}, { scimType })

/**
 * The value with the names of its attributes in lowercase, since RFC 7643 makes them case-insensitive. The names of schemas and
 * paths with conditions may stand in place of names, and what they quote stays.
 */
export function lowered(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(lowered)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [
      /^[\w$.-]+$/.test(name) ? name.toLowerCase() : name,
      lowered(inner),
    ]),
  )
}

/** Parses a value of a request. @throws Problem 400 with `invalidValue` and a sentence that names the attribute */
export function valueBy<T extends z.ZodType>(schema: T, value: unknown, name: string): z.infer<T> {
  const { data, error } = schema.safeParse(value, { error: inputWords })
  if (error) throw wrong('invalidValue', sentenceOf(error, name))
  return data
}

const plain = (most: number) => z.string().max(most).refine(isPlain, notPlain)

/** Text that may be absent; empty text is absent, too. */
const optional = (most: number) =>
  plain(most)
    .nullish()
    .transform((given) => (given === undefined || given === null || given === '' ? null : given))

/** Microsoft Entra writes "True" and "False". */
export const flag = z
  .union([z.boolean(), z.string().regex(/^(?:true|false)$/i, 'must be true or false')])
  .transform((value) => (typeof value === 'boolean' ? value : value.toLowerCase() === 'true'))

export const attributes = {
  userName: plain(256).min(1),
  externalId: optional(256),
  displayName: optional(256),
  givenName: optional(128),
  familyName: optional(128),
  formatted: optional(256),
}

const email = z.object({
  value: z.string().max(320).nullish(),
  type: z.string().max(64).nullish(),
  primary: flag.nullish(),
})

/** One address or several; the text alone is accepted, too. */
export const emails = z.union([
  z.string().transform((value) => [{ value, type: 'work', primary: true }]),
  z.array(email).max(50),
  email.transform((one) => [one]),
])

/** The address that counts: the primary one, else that of work, else the first. Undefined without any. */
export function mainAddress(given: z.infer<typeof emails>): string | undefined {
  const filled = given.filter(({ value }) => value !== undefined && value !== null && value !== '')
  const main =
    filled.find(({ primary }) => primary === true) ??
    filled.find(({ type }) => type?.toLowerCase() === 'work') ??
    filled[0]
  return main?.value ?? undefined
}
