import type { operations } from './operations.ts'

type Described = typeof operations

export type OperationId = keyof Described

type NamesIn<Id extends OperationId, Place extends string> =
  Described[Id] extends Readonly<Record<Place, infer Fields>> ? keyof Fields : never

/** The parameters of an operation's query and the fields of its body. */
export type FieldName<Id extends OperationId = OperationId> = Id extends OperationId
  ? NamesIn<Id, 'query'> | NamesIn<Id, 'body'>
  : never
