/** What a field or parameter of one name means in every schema that says nothing of its own about it. */
export type FieldWords = {
  description: string
  /** What null means, where a schema admits it. */
  orNull?: string
  /** A value for examples. With null the field is null in them, or left out where it is optional. */
  example: unknown
}

export type Fields = Record<string, FieldWords>
