import { randomUUID } from 'node:crypto'
import { z } from 'zod'
import { dryRun, idempotencyKey } from './arguments.ts'

/** A request to the management interface. */
export type ApiRequest = {
  method: 'GET' | 'POST' | 'PATCH'
  path: string
  /** Undefined values are left out. */
  query?: Record<string, string | number | undefined>
  body?: object
  /** The approved confirmation with which a gated operation is executed. */
  confirmationId?: string | undefined
  /** Makes a repeated POST return the first answer. */
  idempotencyKey?: string | undefined
}

/** An answer of the management interface. */
export type ApiAnswer = {
  status: number
  /** The parsed JSON; undefined for an answer without a body. */
  body: unknown
  /** Seconds after which a refused request may be repeated. */
  retryAfter?: number | undefined
  /** The stable code of a refusal. */
  errorCode?: string | undefined
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
    /** It sends a PATCH, which takes no Idempotency-Key because it can be repeated. */
    patches?: true
    /** Its operation has no dry run. */
    noDryRun?: true
    input: Shape
    request(input: z.infer<z.ZodObject<Shape>>): ApiRequest
  }

/**
 * Defines a tool. By default, it can be repeated unless it adds something, and it sends nothing outside the workspace. A tool that
 * sends a POST takes an Idempotency-Key, and sends one of its own without; gated operations ignore it. One that changes
 * something takes `dryRun`.
 */
export function tool<Shape extends z.ZodRawShape>({ input, request, ...rest }: Definition<Shape>): Tool {
  const own = z.object(input).strict()
  const takesKey = rest.effect !== 'reads' && rest.patches !== true && !('confirmationId' in input)
  const rehearses = rest.effect !== 'reads' && rest.noDryRun !== true
  const schema = own.extend({ ...(rehearses && { dryRun }), ...(takesKey && { idempotencyKey }) })
  const Apart = z.looseObject({ dryRun, idempotencyKey })
  return {
    repeatable: rest.effect !== 'adds',
    reachesOut: false,
    ...rest,
    input: schema,
    request(given) {
      if (rest.effect === 'reads') return request(own.parse(given))
      const {
        idempotencyKey: key = randomUUID(),
        dryRun: rehearsed,
        ...fields
      } = Apart.parse(schema.parse(given))
      const asked = request(own.parse(fields))
      return {
        ...asked,
        ...(rehearsed && { query: { ...asked.query, dryRun: 'true' } }),
        ...(takesKey && { idempotencyKey: key }),
      }
    },
  }
}
