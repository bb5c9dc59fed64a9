import { z } from 'zod'
import { quotedName, someOf } from './plain-text.ts'

type Issue = z.core.$ZodRawIssue
type Found = z.core.$ZodIssue

/**
 * What is wrong with an input, for every issue of zod's whose schema has no message of its own: the rest of a sentence after
 * the name of the field, or a whole sentence. Pass it to a parse as `error`, and show the result with {@link sentenceOf}.
 */
export const inputWords: z.core.$ZodErrorMap = (issue) => wordsOf(issue)

function wordsOf(issue: Issue): string {
  switch (issue.code) {
    case 'invalid_type':
      return issue.input === undefined ? 'is required' : `must be ${wanted(issue)}`
    case 'invalid_value':
      return ofValues(issue.input, issue.values)
    case 'too_small':
      return tooSmall(issue)
    case 'too_big':
      return tooBig(issue)
    case 'invalid_format':
      return formats[issue.format] ?? `must match ${String(issue.pattern ?? issue.format)}`
    case 'not_multiple_of':
      return `must be a multiple of ${String(issue.divisor)}`
    case 'unrecognized_keys':
      return unknownFields(issue)
    case 'invalid_union':
      return Array.isArray(issue.options) ? ofValues(issue.input, issue.options) : ofOptions(issue.errors)
    case 'invalid_key':
      return `the name ${issue.issues[0]?.message ?? 'is not possible'}`
    default:
      return 'is not possible'
  }
}

const types: Readonly<Record<string, string>> = {
  string: 'a string',
  boolean: 'true or false',
  array: 'an array',
  object: 'an object',
  record: 'an object',
  null: 'null',
}

function wanted({ expected, inst }: Extract<Issue, { code: 'invalid_type' }>): string {
  return numberOf(inst) ?? types[String(expected)] ?? `a ${String(expected)}`
}

/** The numbers that a schema allows, such as "a whole number from 1 to 100". */
function numberOf(schema: unknown): string | undefined {
  if (!(schema instanceof z.ZodNumber)) return undefined
  const isWhole = schema.format?.includes('int') ?? false
  const kind = isWhole ? 'a whole number' : 'a number'
  const isAbove = schema.def.checks?.some(
    ({ _zod: { def } }) => 'inclusive' in def && def.inclusive === false,
  )
  const least = (schema.minValue ?? -Infinity) + (isWhole && isAbove ? 1 : 0)
  const most = schema.maxValue ?? Infinity
  const hasMost = most < Number.MAX_SAFE_INTEGER
  if (least > Number.MIN_SAFE_INTEGER + 1)
    return hasMost ? `${kind} from ${shown(least)} to ${shown(most)}` : `${kind} of at least ${shown(least)}`
  return hasMost ? `${kind} of at most ${shown(most)}` : kind
}

const shown = (bound: number | bigint): string => bound.toLocaleString('en')

const units: Readonly<Record<string, string>> = {
  string: 'characters',
  array: 'items',
  record: 'fields',
  object: 'fields',
}

function tooSmall({ origin, minimum, inclusive, schema }: Extract<Issue, { code: 'too_small' }>): string {
  const unit = units[origin]
  if (unit !== undefined)
    return minimum === 1 ? 'must not be empty' : `must have at least ${shown(minimum)} ${unit}`
  return `must be ${numberOf(schema) ?? `${inclusive ? 'at least' : 'greater than'} ${shown(minimum)}`}`
}

function tooBig({ origin, maximum, inclusive, schema }: Extract<Issue, { code: 'too_big' }>): string {
  const unit = units[origin]
  if (unit !== undefined) return `must have at most ${shown(maximum)} ${unit}`
  return `must be ${numberOf(schema) ?? `${inclusive ? 'at most' : 'less than'} ${shown(maximum)}`}`
}

const formats: Readonly<Record<string, string>> = {
  datetime: 'must be an ISO 8601 time with its time zone, such as 2027-11-21T00:00:00.000Z',
  date: 'must be a date, such as 2027-11-21',
  url: 'must be a URL',
  email: 'must be an email address',
  base64: 'must be base64',
  base64url: 'must be base64url',
}

function ofValues(input: unknown, values: readonly unknown[]): string {
  const one = values.length === 1 ? String(values[0]) : `one of ${values.map(String).join(', ')}`
  return input === undefined ? `is required: ${one}` : `must be ${one}`
}

function unknownFields({ keys, inst }: Extract<Issue, { code: 'unrecognized_keys' }>): string {
  const names = `unknown field${keys.length === 1 ? '' : 's'} ${someOf(keys)}`
  if (!(inst instanceof z.ZodObject)) return names
  const known = Object.keys(inst.shape)
  return known.length === 0 ? `${names}; there are none here` : `${names}; known are ${known.join(', ')}`
}

/** Joins what each option of a union wants: "must be a string or null". */
function ofOptions(options: readonly (readonly Found[])[]): string {
  const each = options.flatMap(([issue]) => (issue?.path.length === 0 ? [issue.message] : []))
  const [first = 'is not possible', ...rest] = new Set(each)
  return [first, ...rest.map((words) => words.replace(/^must (?:be )?/, ''))].join(' or ')
}

/**
 * The first issue of an input, as a sentence: `licenses[3].expiresAt is required`.
 * @param whole the name of the whole input, such as "the body"
 * @param nameOf the name of a field of it
 */
export function sentenceOf(
  { issues: [issue] }: z.core.$ZodError,
  whole: string,
  nameOf: (path: string) => string = (path) => path,
): string {
  if (!issue) return `${whole} is not possible`
  const { path, message } = furthest(issue)
  const name = path.length === 0 ? whole : nameOf(pathWords(path))
  if (isPredicate(message)) return `${name} ${message}`
  return path.length === 0 ? message : `${name}: ${message}`
}

/** Whether a message is the rest of a sentence after the name of what is wrong. */
export const isPredicate = (message: string): boolean => /^(?:must|is|has|may|cannot|needs)\b/.test(message)

/** A union of which only one option has the type of the input is wrong where that option is. */
function furthest(issue: Found): Pick<Found, 'path' | 'message'> {
  if (issue.code !== 'invalid_union') return issue
  const fitting = issue.errors.flatMap(([first]) => (first && !isOfWholeType(first) ? [first] : []))
  const [only] = fitting
  if (!only || fitting.length > 1) return issue
  const { path, message } = furthest(only)
  return { path: [...issue.path, ...path], message }
}

const isOfWholeType = ({ code, path }: Found): boolean =>
  path.length === 0 && (code === 'invalid_type' || code === 'invalid_value')

function pathWords(path: readonly PropertyKey[]): string {
  const written = path.map((key) => {
    if (typeof key === 'number') return `[${key}]`
    return /^[\w-]+$/.test(String(key)) ? `.${String(key)}` : `[${quotedName(String(key))}]`
  })
  return written.join('').replace(/^\./, '')
}
