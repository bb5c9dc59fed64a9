import type { Method } from '../client.ts'
import type { Field } from './field.ts'

/** A command that calls one operation of the management interface. */
export type Operation = {
  /** The operationId of the OpenAPI document. */
  id: string
  method: Method
  /** Its parameters in braces are the first arguments of the command. */
  path: string
  /** The words of the command, such as `licenses show`. */
  words: string
  summary: string
  /** Query parameters, besides those of a page. */
  query?: Readonly<Record<string, Field>>
  /** Fields of the body. */
  body?: Readonly<Record<string, Field>>
  /** Whether the answer is a page: `{items, nextCursor}`. */
  paged?: true
  /** The columns of a list for people: a heading, and where the value is in an item. */
  columns?: Readonly<Record<string, string>>
  /** Where the items of a list are, when it is not `items`. */
  items?: string
  /** Whether a person has to approve it. */
  gated?: true
  /** Whether it can say what it would change, without changing it; every gated one can. */
  dryRun?: true
  /** What to ask before it runs at a terminal; `--yes` skips the question. */
  question?: string
  /** Whether the server may do it twice when it gets the request again. */
  notRepeatable?: true
}

type Details = Omit<Operation, 'id' | 'method' | 'path' | 'words' | 'summary'>

/** @param route its method and path, as in the OpenAPI document */
export function operation(
  id: string,
  words: string,
  route: `${Method} /v1/${string}`,
  summary: string,
  details: Details = {},
): Operation {
  const [method, path = ''] = splitOnce(route)
  return { id, method, path, words, summary, ...(details.gated && { dryRun: true }), ...details }
}

function splitOnce(route: `${Method} /v1/${string}`): [Method, string] {
  const space = route.indexOf(' ')
  return [route.slice(0, space) as Method, route.slice(space + 1)]
}
