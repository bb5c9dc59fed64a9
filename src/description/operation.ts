/** How a field is written in a request. */
export type FieldKind =
  | 'text'
  | 'number'
  | 'flag'
  /** Texts. */
  | 'list'
  /** A time in ISO 8601. */
  | 'moment'
  | 'json'
  /** An object of texts. */
  | 'pairs'
  /** An object of texts, numbers and true. */
  | 'values'
  /** A count and a unit. */
  | 'duration'
  /** Bytes in base64. */
  | 'file'

/** A parameter of a query, or a field of a body. */
export type DescribedField = {
  kind: FieldKind
  /** Its description. */
  help: string
  /** The values that it takes, if it does not take any. */
  choices?: readonly string[]
  required?: true
  nullable?: true
}

/** One operation of the management interface. */
export type DescribedOperation = {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** Its parameters are in braces. */
  path: string
  summary: string
  /** Parameters of the query, besides those of a page and `dryRun`. */
  query?: Readonly<Record<string, DescribedField>>
  /** Fields of the body that are not in the path too. */
  body?: Readonly<Record<string, DescribedField>>
  /** Whether the answer is a page: `{items, nextCursor}`. */
  paged?: true
  /** Whether a person has to approve it. */
  gated?: true
  /** Whether it can say what it would change, without changing it. */
  dryRun?: true
  /** Whether the server may do it twice when it gets the request again. */
  notRepeatable?: true
}
