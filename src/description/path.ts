import type { operations } from './operations.ts'

/** A value that no path can contain. */
export class NotInPath extends Error {}

/**
 * A value as one segment of a path, such that the route sees exactly this value.
 * @throws NotInPath for an empty value, for dots, which URL parsers take for a step in the path even when they are encoded, and
 *   for unpaired surrogates, which have no encoding
 */
export function segment(value: string): string {
  if (value === '' || value === '.' || value === '..' || !value.isWellFormed())
    throw new NotInPath(`${JSON.stringify(value)} is not an id; copy the id from a list`)
  return encodeURIComponent(value)
}

/** A path with values as segments: `pathTo`/v1/licenses/${id}/revoke``. @throws NotInPath */
export const pathTo = (parts: TemplateStringsArray, ...values: string[]): string =>
  String.raw({ raw: parts }, ...values.map(segment))

/** The parameters of a described path such as `/v1/licenses/{id}`, in order. */
export const parametersOf = (path: string): string[] =>
  [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name)

/** A described path with the values of its parameters as segments. @throws NotInPath */
export const pathWith = (path: string, values: Readonly<Record<string, unknown>>): string =>
  path.replace(/\{(\w+)\}/g, (_, name: string) => segment(String(values[name] ?? '')))

type Described = typeof operations

export type OperationId = keyof Described

type NamesIn<Id extends OperationId, Field extends string> =
  Described[Id] extends Readonly<Record<Field, infer Fields>> ? keyof Fields : never

/** The parameters of an operation's query and the fields of its body. */
export type FieldName<Id extends OperationId = OperationId> = Id extends OperationId
  ? NamesIn<Id, 'query'> | NamesIn<Id, 'body'>
  : never

type ParametersIn<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? Name | ParametersIn<Rest>
  : never

/** What a call of an operation takes: in its path, its query or its body. */
export type InputName<Id extends OperationId> =
  | ParametersIn<Described[Id]['path']>
  | FieldName<Id>
  | (Described[Id] extends { paged: true } ? 'cursor' | 'limit' | 'order' : never)
