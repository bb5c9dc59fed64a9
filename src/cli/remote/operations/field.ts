/** How an option or an argument becomes a value of a request. */
export type FieldKind =
  | 'text'
  | 'number'
  | 'flag'
  | 'list'
  | 'moment'
  | 'json'
  | 'pairs'
  | 'duration'
  /** Read from a file or from stdin, never from an argument that other users could read. */
  | 'secret'
  /** The path of a file, which is sent in base64. */
  | 'file'

export type Field = {
  kind: FieldKind
  help: string
  /** The option's name when it is not the field's. */
  option?: string
  choices?: readonly string[]
  required?: true
  /** Whether the value may be removed, written as `none` (an empty text for a text). */
  nullable?: true
  /** An argument of the command instead of an option. */
  argument?: true
}

type More = Omit<Field, 'kind' | 'help'>
const make =
  (kind: FieldKind) =>
  (help: string, more: More = {}): Field => ({ kind, help, ...more })

export const text = make('text')
export const number = make('number')
export const flag = make('flag')
export const list = make('list')
export const moment = make('moment')
export const json = make('json')
export const pairs = make('pairs')
export const duration = make('duration')
export const secret = make('secret')
export const file = make('file')

export const required = { required: true } as const
export const nullable = { nullable: true } as const
export const argument = { argument: true, required: true } as const
