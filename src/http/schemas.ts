import { z } from 'zod'
import { isPlain, isStorable, Metadata, Slug } from '../domain/values.ts'

export { keyText, text } from '../domain/values.ts'

/** Up to 50 key-value pairs of text, for the caller's own use. */
export const metadataIn = Metadata.refine(
  (pairs) => Object.entries(pairs).every(([key, value]) => isPlain(key) && isStorable(value)),
  'must be well-formed text without NUL, with keys without control characters',
)

/** The log writes four-digit years, and some strings that match the format are not days, such as 30 February. */
function isInYearRange(value: string): boolean {
  const moment = new Date(value)
  return !Number.isNaN(moment.getTime()) && /^\d{4}-/.test(moment.toISOString())
}

/** A time in any offset, with or without a fraction, whose year in UTC has four digits. */
export const momentIn = z.iso
  .datetime({ offset: true })
  .refine(isInYearRange, 'must be a valid time between the years 0000 and 9999')
  .meta({ example: '2027-11-21T00:00:00.000Z', description: 'ISO 8601' })

/** What is said of a moment whose field has no words of its own. */
export const anyMoment = {
  example: '2026-11-21T09:30:00.000Z',
  description: 'ISO 8601 in UTC, with milliseconds',
}

export const momentOut = z.string().meta(anyMoment)

/** What an answer has more while a license is past its expiry and in its grace. */
export const graceShape = {
  grace: z.literal(true).optional().meta({
    description: 'true while the license is valid after its expiry, until `grace_until`. Absent otherwise',
  }),
  grace_until: z.int().optional().meta({
    description: 'When the grace ends, in Unix seconds; absent unless `grace` is true',
    example: 1_827_999_000,
  }),
}

/** The same time in the format of the log. */
export const inUtc = (moment: string): string => new Date(moment).toISOString()

/** A moment or a day alone, its midnight in UTC, in the format of the log. */
export const momentOrDay = z.union([
  momentIn.transform(inUtc),
  z.iso.date().transform((day) => `${day}T00:00:00.000Z`),
])

export const errorBody = z
  .object({ error: z.string().meta({ description: 'For people: what is wrong and what to do' }) })
  .meta({ id: 'Error', description: 'An error; its stable code is in the header `Error-Code`' })

const shown = (bound: number): string => bound.toLocaleString('en')

/** A number in a query: decimal digits, which is less than JavaScript takes for a number. */
export const numberIn = (minimum: number, maximum: number) =>
  z
    .string()
    .regex(/^\d{1,16}$/, `must be a whole number from ${shown(minimum)} to ${shown(maximum)}`)
    .transform(Number)
    .pipe(z.int().min(minimum).max(maximum))
    .meta({
      override: ({ jsonSchema }) => {
        delete jsonSchema.pattern
        Object.assign(jsonSchema, { type: 'integer', minimum, maximum })
      },
    })

/** The query parameter that narrows a list to one product. */
export const productQuery = Slug.optional().meta({
  description: 'Only what belongs to the product with this id',
  example: 'editor',
})

/** The parameters of a path with one id. */
export const onlyId = z.strictObject({ id: z.string() })

/** Items on a page, unless asked for otherwise. */
const usual = 25

export const pageQuery = {
  cursor: z
    .string()
    .min(1)
    .max(1000)
    .optional()
    .meta({ description: '`nextCursor` of the previous page; absent for the first page' }),
  limit: numberIn(1, 100)
    .default(usual)
    .meta({ description: 'How many items a page has at most', override: { default: usual } }),
  order: z.enum(['newest', 'oldest']).default('newest').meta({ description: 'Which items come first' }),
}

export const pageOf = <Item extends z.ZodType>(item: Item) =>
  z.object({
    items: z.array(item).meta({ description: 'The items of this page' }),
    nextCursor: z.string().nullable().meta({
      description: 'Send it as `cursor` to read the next page; null on the last page',
      example: null,
    }),
  })

export type Answer = {
  description: string
  content: { 'application/json': { schema: z.ZodType; example?: object } }
  headers?: Record<string, { type: 'integer' | 'string'; enum?: readonly string[]; description: string }>
}

/** @param example what is different from the example that is composed of those of the fields */
export function answer(description: string, schema: z.ZodType, example?: object): Answer {
  return { description, content: { 'application/json': { schema, ...(example && { example }) } } }
}

const meanings = {
  400: 'Malformed input: bad JSON or invalid parameters',
  401: 'The token is missing, invalid, expired or revoked',
  402: 'The plan does not allow this',
  403: 'The token lacks the scope, or the tenant is suspended or closed',
  404: 'It does not exist, or belongs to another tenant',
  409: 'Conflicts with the current state',
  422: 'Well-formed but not acceptable',
  429: 'Rate limited; see Retry-After',
  500: 'Internal error; quote the Request-Id to support',
  503: 'A store does not respond, or the server is overloaded; see Retry-After. The message says if a retry is safe',
} as const

export type ErrorStatus = keyof typeof meanings

const retryAfter = { 'Retry-After': { type: 'integer', description: 'Seconds to wait' } } as const

const examples: Record<ErrorStatus, string> = {
  400: 'limit must be a whole number from 1 to 100',
  401: 'the token has expired',
  402: 'the plan allows no more products; upgrade to a higher plan',
  403: 'the token lacks the scope licenses:write',
  404: 'license not found',
  409: 'the license is revoked',
  422: 'expiresAt must be in the future',
  429: 'too many requests; try again in 2 seconds',
  500: 'internal error; quote the Request-Id to support',
  503: 'the database does not respond; it is safe to retry',
}

function errorAnswer(status: ErrorStatus, body: z.ZodType): Answer {
  const described = answer(meanings[status], body)
  if (body === errorBody) described.content['application/json'].example = { error: examples[status] }
  return status === 429 || status === 503 ? { ...described, headers: retryAfter } : described
}

/** The error responses of an operation that can only refuse too many requests. */
export const limited = () => ({ 429: errorAnswer(429, errorBody) })

/** The error responses of an operation, each with its meaning and the error body of its interface. */
export function errorsWith(body: z.ZodType, ...statuses: ErrorStatus[]): Record<string, Answer> {
  const all: ErrorStatus[] = [...statuses, 429, 500, 503]
  return Object.fromEntries(all.map((status) => [status, errorAnswer(status, body)]))
}

/** The response to a request that is not as described, of an operation that has no other reason to answer 400. */
export const notAsDescribed = (): Record<string, Answer> => ({ 400: errorAnswer(400, errorBody) })

export const errors = (...statuses: ErrorStatus[]): Record<string, Answer> =>
  errorsWith(errorBody, 401, ...statuses)
