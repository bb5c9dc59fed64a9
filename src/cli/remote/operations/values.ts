import { valueWritten } from '../../../domain/products/written-values.ts'
import { wholeNumberIn } from '../../../numbers.ts'
import { CommandMisused } from '../../../terminal/exit-codes.ts'
import { readBytes, readInput, readJson } from '../input.ts'
import type { Field, FieldKind } from './field.ts'

/** The option of a field, such as `device-limit` of `deviceLimit`. */
export const optionName = (name: string, field: Field): string =>
  field.option ?? name.replace(/_/g, '-').replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)

/** The flags of a field's option, as commander reads them. */
export function optionFlags(name: string, field: Field): string {
  const option = optionName(name, field)
  if (field.kind === 'secret') return `--${option}-file <path>`
  if (field.kind === 'flag') return `--${option} [true|false]`
  return `--${option} <${field.choices?.join('|') ?? placeholders[field.kind]}>`
}

const placeholders: Record<FieldKind, string> = {
  text: 'text',
  number: 'number',
  flag: 'true|false',
  list: 'list',
  moment: 'time',
  json: 'json',
  pairs: 'name=value',
  values: 'name=value',
  duration: 'duration',
  secret: 'path',
  file: 'path',
}

/** The help of a field's option. */
export const optionHelp = ({ kind, help }: Field): string =>
  kind === 'secret' ? `file with ${help}; - reads it from stdin` : help

/**
 * Reads the value of a field from what was typed.
 * @param typed a text; several for `pairs` and `values`; true for a flag without a value
 * @throws CommandMisused when it is not valid
 */
export async function fieldValue(name: string, field: Field, typed: unknown, now: Date): Promise<unknown> {
  const what = field.argument ? optionName(name, field) : `--${optionName(name, field)}`
  const given = typeof typed === 'string' ? typed : ''
  if (field.nullable && (field.kind === 'text' ? typed === '' : typed === 'none')) return null
  if (field.choices && !field.choices.includes(given)) {
    throw new CommandMisused(`${what} must be one of ${field.choices.join(', ')}; it is ${given}`)
  }
  switch (field.kind) {
    case 'text':
      return given
    case 'number':
      return wholeIn(given, what, field)
    case 'flag':
      if (typed === true || given === 'true') return true
      if (given === 'false') return false
      throw new CommandMisused(`${what} must be true or false; it is ${given}`)
    case 'list':
      return given === '' ? [] : given.split(',').map((item) => item.trim())
    case 'moment':
      return momentIn(given, what, field, now)
    case 'duration':
      return durationIn(given, what, field)
    case 'json':
      return readJson(given, what)
    case 'pairs':
      return Object.fromEntries([typed].flat().map((pair) => pairIn(String(pair), what)))
    case 'values':
      return Object.fromEntries(
        [typed].flat().map((pair) => {
          const [name, value] = pairIn(String(pair), what)
          return [name, valueWritten(value)]
        }),
      )
    case 'file':
      return readBytes(given, what).toString('base64')
    case 'secret':
      return ((await readInput(given, what)).split('\n')[0] ?? '').trim()
  }
}

/** The server knows the bounds. */
function wholeIn(given: string, what: string, field: Field): number {
  const number = wholeNumberIn(given, Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER)
  if (number !== undefined) return number
  throw new CommandMisused(`${what} must be a whole number${orNone(field)}; it is ${given}`)
}

const orNone = ({ nullable }: Field): string => (nullable ? ', or none' : '')

const secondsOf = { s: 1, m: 60, h: 3600, d: 86_400 } as const

/** A time in ISO 8601, a date, or a duration from now such as `30d`. */
function momentIn(given: string, what: string, field: Field, now: Date): string {
  const unit = given.at(-1)
  const count = wholeNumberIn(given.slice(0, -1), 0, 999_999)
  if (count !== undefined && (unit === 's' || unit === 'm' || unit === 'h' || unit === 'd')) {
    return new Date(now.getTime() + count * secondsOf[unit] * 1000).toISOString()
  }
  const date = new Date(given)
  if (/^\d{4}-\d{2}-\d{2}/.test(given) && !Number.isNaN(date.getTime())) return date.toISOString()
  throw new CommandMisused(
    `${what} must be a time such as 2027-01-31 or 2027-01-31T09:30:00Z, or a duration from now such as 30d${orNone(field)}; it is ${given}`,
  )
}

const units = { d: 'day', mo: 'month', y: 'year' } as const

function durationIn(given: string, what: string, field: Field): { count: number; unit: string } {
  const { digits = '', unit } = /^(?<digits>\d+)(?<unit>d|mo|y)$/.exec(given)?.groups ?? {}
  const count = wholeNumberIn(digits, 1, 99_999)
  if (count !== undefined && (unit === 'd' || unit === 'mo' || unit === 'y'))
    return { count, unit: units[unit] }
  throw new CommandMisused(`${what} must be such as 30d, 12mo or 1y${orNone(field)}; it is ${given}`)
}

function pairIn(given: string, what: string): [string, string] {
  const equals = given.indexOf('=')
  if (equals > 0) return [given.slice(0, equals), given.slice(equals + 1)]
  throw new CommandMisused(`${what} must be name=value; it is ${given}`)
}
