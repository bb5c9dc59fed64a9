import type { FastifyRequest } from 'fastify'
import type { GatedOperation, RequestInput } from '../../gate/operation.ts'
import { passGate } from '../../gate/pass.ts'
import type { ApprovalPorts } from '../../gate/ports.ts'
import { userAgentOf } from '../../http/listening.ts'
import { originOfMember, principalOf } from '../session/principal.ts'

/**
 * Requests a gated operation on behalf of a member, as API clients request it: nothing is executed yet.
 * @returns the id of the confirmation that a member has to approve
 * @throws Refusal when it could never run
 */
export async function askApproval(
  ports: ApprovalPorts,
  request: FastifyRequest,
  operation: GatedOperation<unknown>,
  input: RequestInput,
): Promise<string> {
  const { tenantId, memberId } = principalOf(request)
  const outcome = await passGate(ports, operation, {
    tenantId,
    tokenId: memberId,
    userAgent: userAgentOf(request),
    request: input,
    origin: originOfMember(request),
    confirmationId: undefined,
  })
  if (outcome.passed) throw new Error('a request without an approval passed the gate')
  return outcome.confirmation.confirmationId
}
