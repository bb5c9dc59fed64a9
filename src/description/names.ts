import type { operations } from './operations.ts'

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
