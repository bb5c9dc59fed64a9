import type { FastifyReply, FastifyRequest } from 'fastify'
import type { KnownMember } from '../../../projections/members/queries.ts'
import { recordFailedSignIn } from '../../commands/members/sign-in-audit.ts'
import { addressOf } from '../../http/address.ts'
import type { Ports } from '../../ports.ts'

/**
 * Records a failed sign-in with a member's account once the answer is sent, so that its time does not reveal that there
 * is such a member.
 */
export function recordFailureLater(
  services: Ports<'execute' | 'newId' | 'now' | 'subjects'>,
  request: FastifyRequest,
  reply: FastifyReply,
  { member }: Pick<KnownMember, 'member'>,
  method: 'password' | 'passkey',
): void {
  const attempt = { method, address: addressOf(request) }
  reply.raw.once('finish', () => {
    recordFailedSignIn(services, member, attempt, request.id).catch((err: unknown) =>
      request.log.warn({ err, request_id: request.id }, 'sign_in.failure_not_recorded'),
    )
  })
}
