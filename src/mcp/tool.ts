import { randomUUID } from 'node:crypto'
import { z } from 'zod'
import type { DescribedOperation } from '../description/operation.ts'
import { operations } from '../description/operations.ts'
import { type InputName, type OperationId, parametersOf } from '../description/path.ts'
import type { ApiRequest } from './api.ts'
import { confirmationId, dryRun, idempotencyKey } from './arguments.ts'
import { requestTo } from './request.ts'

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

type Definition<Id extends OperationId, One extends OperationId, Shape extends z.ZodRawShape> = Pick<
  Tool,
  'name' | 'title' | 'description' | 'effect'
> &
  Partial<Pick<Tool, 'repeatable' | 'reachesOut'>> & {
    operation: Id
    /** The operation that is called when the argument of its path is given. */
    ofOne?: One
    input: Shape
  } & Names<Exclude<keyof Shape, InputName<Id | One>>, InputName<Id | One>>

/** What the operation calls the arguments that have other names here. */
type Names<Other extends PropertyKey, Name> = [Other] extends [never]
  ? { names?: undefined }
  : { names: Readonly<Record<Other, Name>> }

/**
 * Defines a tool that calls an operation. By default, it can be repeated unless it adds something, and it sends nothing outside
 * the workspace. What else it takes follows from the operation: an Idempotency-Key, for which it sends one of its own without,
 * the id of an approval, and `dryRun`.
 */
export function tool<Id extends OperationId, Shape extends z.ZodRawShape, One extends OperationId = Id>(
  definition: Definition<Id, One, Shape>,
): Tool {
  const { operation: id, ofOne, input, names = {}, ...rest } = definition
  const operation: DescribedOperation = operations[id]
  const reads = rest.effect === 'reads'
  const takesKey = !reads && operation.method === 'POST' && !operation.gated && !operation.notRepeatable
  const schema = z.strictObject({
    ...input,
    ...(operation.gated && { confirmationId }),
    ...(!reads && operation.dryRun && { dryRun }),
    ...(takesKey && { idempotencyKey }),
  })
  return {
    repeatable: rest.effect !== 'adds',
    reachesOut: false,
    ...rest,
    input: schema,
    request(given) {
      const {
        idempotencyKey: key = randomUUID(),
        dryRun: rehearsed,
        confirmationId: approved,
        ...values
      } = Apart.parse(renamed(schema.parse(given), names))
      const isOfOne =
        ofOne && parametersOf(operations[ofOne].path).every((name) => values[name] !== undefined)
      const request = requestTo(isOfOne ? operations[ofOne] : operation, values)
      return {
        ...request,
        ...(rehearsed && { query: { ...request.query, dryRun: 'true' } }),
        ...(takesKey && { idempotencyKey: key }),
        ...(operation.gated && { confirmationId: approved }),
      }
    },
  }
}

const Apart = z.looseObject({ dryRun, idempotencyKey, confirmationId })

const renamed = (fields: Readonly<Record<string, unknown>>, names: Readonly<Record<string, string>>) =>
  Object.fromEntries(Object.entries(fields).map(([name, value]) => [names[name] ?? name, value]))
