import { z } from 'zod'

/** A request to the management interface. */
export type ApiRequest = {
  method: 'GET' | 'POST' | 'PATCH'
  path: string
  /** Undefined values are left out. */
  query?: Record<string, string | number | undefined>
  body?: object
  /** The approved confirmation with which a gated operation is executed. */
  confirmationId?: string | undefined
  /** Makes a repeated request of an operation that creates something return the first answer. */
  idempotencyKey?: string | undefined
}

/** An answer of the management interface. */
export type ApiAnswer = {
  status: number
  /** The parsed JSON; undefined for an answer without a body. */
  body: unknown
  /** Seconds after which a refused request may be repeated. */
  retryAfter?: number | undefined
}

/** Sends a request with the token of the agent. @throws when no answer arrived */
export type CallApi = (request: ApiRequest) => Promise<ApiAnswer>

/** What a tool does, from which its annotations follow. */
type Effect = 'reads' | 'adds' | 'changes' | 'destroys'

/** One tool of the Model Context Protocol: a request to the management interface under a name that models understand. */
export type Tool = {
  name: string
  title: string
  /** When to use it, what it returns, and what to do next. */
  description: string
  effect: Effect
  /** Repeating it with the same arguments has no further effect. */
  repeatable: boolean
  /** It reaches people or machines outside keyledger: a mail, a webhook. */
  reachesOut: boolean
  input: z.ZodObject
  /** @throws ZodError for arguments that do not fit {@link input} */
  request(input: unknown): ApiRequest
}

type Definition<Shape extends z.ZodRawShape> = Pick<Tool, 'name' | 'title' | 'description' | 'effect'> &
  Partial<Pick<Tool, 'repeatable' | 'reachesOut'>> & {
    input: Shape
    request(input: z.infer<z.ZodObject<Shape>>): ApiRequest
  }

/** Defines a tool. Unless it says otherwise, it can be repeated if it adds nothing, and reaches nobody outside. */
export function tool<Shape extends z.ZodRawShape>({ input, request, ...rest }: Definition<Shape>): Tool {
  const schema = z.object(input).strict()
  return {
    repeatable: rest.effect !== 'adds',
    reachesOut: false,
    ...rest,
    input: schema,
    request: (given) => request(schema.parse(given)),
  }
}
