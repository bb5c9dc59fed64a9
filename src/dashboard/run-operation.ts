import type { FastifyRequest } from 'fastify'
import type { GatedOperation } from '../gate/operation.ts'
import type { PageContext } from './page-context.ts'
import { originOfMember, principalOf } from './session/principal.ts'

/**
 * Executes an operation with the same rules as an approved API request, for a member who has just confirmed who they are.
 * @param id created with the form, so that sending it twice changes things once
 * @throws Refusal
 */
export async function runOperation<Result>(
  { ports }: PageContext,
  request: FastifyRequest,
  operation: GatedOperation<Result>,
  id: string,
  { parameters = {}, body = null }: { parameters?: Record<string, string>; body?: object | null },
): Promise<Result> {
  const { tenantId } = principalOf(request)
  const input = { parameters, query: {}, body }
  await operation.check(ports, tenantId, input)
  return operation.run(ports, tenantId, input, { id, origin: originOfMember(request) })
}
