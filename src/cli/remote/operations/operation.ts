import type { DescribedOperation } from '../../../description/operation.ts'
import { operations as described } from '../../../description/operations.ts'
import type { FieldName, OperationId } from '../../../description/path.ts'
import { type Field, fieldOf, type Words } from './field.ts'
import { usualWords } from './option-texts.ts'

type Command = {
  /** The words of the command, such as `licenses show`. */
  words: string
  /** Instead of that of its description. */
  summary?: string
  /** The columns of a list for people: a heading, and where the value is in an item. */
  columns?: Readonly<Record<string, string>>
  /** Where the items of a list are, when it is not `items`. */
  items?: string
  /** What to ask before it runs at a terminal; `--yes` skips the question. */
  question?: string
}

/** What the command line says of operations; the rest is in their description. */
export type Commands = { [Id in OperationId]: Command & { options?: Options<FieldName<Id>> } }

/** The words of fields. An operation without fields has none: the compiler would accept any name in an empty type. */
type Options<Name extends string> = [Name] extends [never] ? never : { readonly [N in Name]?: Words }

/** A command that calls one operation of the management interface. */
export type Operation = Command &
  Omit<DescribedOperation, 'query' | 'body'> & {
    /** The operationId of the OpenAPI document. */
    id: string
    query?: Readonly<Record<string, Field>>
    body?: Readonly<Record<string, Field>>
  }

/** Commands with the descriptions of their operations, in the order of the help. */
export const operationsOf = (commands: Partial<Commands>): Operation[] =>
  Object.entries(commands).map(([id, { options = {}, ...command }]) => {
    const { query, body, ...rest }: DescribedOperation = described[id as OperationId]
    return {
      id,
      ...rest,
      ...command,
      ...(query && { query: withWords(query, options) }),
      ...(body && { body: withWords(body, options) }),
    }
  })

const withWords = (
  fields: NonNullable<DescribedOperation['query']>,
  options: Readonly<Partial<Record<string, Words>>>,
): Record<string, Field> =>
  Object.fromEntries(
    Object.entries(fields).map(([name, field]) => [name, fieldOf(field, usual[name], options[name])]),
  )

const usual: Readonly<Partial<Record<string, Words>>> = usualWords
