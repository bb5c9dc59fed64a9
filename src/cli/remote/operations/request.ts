import { parametersOf, pathWith } from '../../../description/path.ts'
import { wholeNumberOf } from '../../../numbers.ts'
import { CommandMisused } from '../../../terminal/exit-codes.ts'
import type { Call } from '../client.ts'
import { readJson } from '../input.ts'
import type { Field } from './field.ts'
import type { Operation } from './operation.ts'
import { fieldValue, optionName } from './values.ts'

/** The fields that are arguments of the command, after the parameters of the path. */
export const argumentFields = ({ body = {}, query = {} }: Operation): [string, Field][] =>
  Object.entries({ ...query, ...body }).filter(([, field]) => field.argument)

/**
 * The request of a command.
 * @param typed the options by their names in the code, as commander has them
 * @throws CommandMisused for a value that is not valid, or a required one that is missing; NotInPath for one that no path holds
 */
export async function requestOf(
  operation: Operation,
  args: readonly string[],
  typed: Readonly<Record<string, unknown>>,
  now: Date,
): Promise<Call> {
  const parameters = parametersOf(operation.path)
  const path = pathWith(
    operation.path,
    Object.fromEntries(parameters.map((name, index) => [name, args[index]])),
  )
  const rest = args.slice(parameters.length)
  const positions = argumentFields(operation).map(([name]) => name)
  const typedFor = (name: string, field: Field): unknown =>
    field.argument ? rest[positions.indexOf(name)] : typed[typedName(name, field)]
  const values = async (fields: Readonly<Record<string, Field>>) => {
    const found: Record<string, unknown> = {}
    for (const [name, field] of Object.entries(fields)) {
      const given = typedFor(name, field)
      if (given !== undefined) found[name] = await fieldValue(name, field, given, now)
    }
    return found
  }
  const query = flat({ ...(await values(operation.query ?? {})), ...(operation.paged && pageQuery(typed)) })
  const body = operation.body && (await bodyOf(operation.body, await values(operation.body), typed.data))
  const { method, notRepeatable, gated } = operation
  return { method, path, query, repeatable: !notRepeatable && !gated, ...(body && { body }) }
}

/** The option as commander names it: `device-limit` becomes `deviceLimit`. */
export function typedName(name: string, field: Field): string {
  const option = `${optionName(name, field)}${field.kind === 'secret' ? '-file' : ''}`
  return option.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase())
}

const pageQuery = ({ cursor, limit, order }: Readonly<Record<string, unknown>>) => ({
  cursor,
  limit: typeof limit === 'string' ? wholeNumberOf('--limit', limit, 1, 100) : undefined,
  order,
})

/** Each value as text; pairs as `metadata[name]=value`. */
function flat(values: Record<string, unknown>): Record<string, string> {
  const pairs = Object.entries(values).flatMap(([name, value]): [string, unknown][] =>
    typeof value === 'object' && value !== null
      ? Object.entries(value).map(([key, one]): [string, unknown] => [`${name}[${key}]`, one])
      : [[name, value]],
  )
  return Object.fromEntries(pairs.filter(([, value]) => value !== undefined).map(([k, v]) => [k, String(v)]))
}

/** The body of `--data`, in which options replace fields. */
async function bodyOf(
  fields: Readonly<Record<string, Field>>,
  values: Record<string, unknown>,
  data: unknown,
): Promise<Record<string, unknown>> {
  const given = typeof data === 'string' ? await readJson(data, '--data') : {}
  if (typeof given !== 'object' || given === null || Array.isArray(given)) {
    throw new CommandMisused('--data must be a JSON object')
  }
  const body: Record<string, unknown> = { ...given, ...values }
  const missing = Object.entries(fields).filter(([name, field]) => field.required && body[name] === undefined)
  if (missing.length === 0) return body
  const options = missing.map(([name, field]) => optionOf(name, field)).join(', ')
  throw new CommandMisused(`${options} must be given`)
}

const optionOf = (name: string, field: Field): string =>
  `--${optionName(name, field)}${field.kind === 'secret' ? '-file' : ''}`
