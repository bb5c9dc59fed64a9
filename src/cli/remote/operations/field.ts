import type { DescribedField, FieldKind as DescribedKind } from '../../../description/operation.ts'

/** How an option or an argument becomes a value of a request. */
export type FieldKind =
  | DescribedKind
  /** A text that is read from a file or from stdin, never from an argument that other users could read. */
  | 'secret'

/** A nullable field is removed by `none`, a nullable text by an empty one. */
export type Field = Omit<DescribedField, 'kind' | 'choices'> & {
  kind: FieldKind
  choices?: readonly string[] | undefined
  /** The option's name when it is not the field's. */
  option?: string
  /** An argument of the command instead of an option. */
  argument?: true
}

/** What the command line says of a field instead of its description, and how it takes the field. */
export type Words = string | Partial<Field>

export const secret = (help: string): Words => ({ kind: 'secret', help })

/** @param option its name when it is not the field's */
export const argument = (help: string, option?: string): Words => ({
  argument: true,
  required: true,
  help,
  ...(option !== undefined && { option }),
})

/** A text that the server checks: there are too many choices to list, or the help names them. */
export const anyText = (help: string): Words => ({ kind: 'text', choices: undefined, help })

const asFields = (words: Words = {}): Partial<Field> => (typeof words === 'string' ? { help: words } : words)

/** A field as the command line takes it. @param own what one command says, instead of what all say */
export const fieldOf = (
  described: DescribedField,
  usual: Words | undefined,
  own: Words | undefined,
): Field => ({
  ...described,
  ...asFields(usual),
  ...asFields(own),
})
