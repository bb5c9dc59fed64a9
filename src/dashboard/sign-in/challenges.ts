import type { FastifyRequest } from 'fastify'
import { type ChallengePurpose, keepChallenge, takeChallenge } from '../../access/challenges.ts'
import { momentOf } from '../../commands/origin.ts'
import type { Ports } from '../../ports.ts'
import { sessionHashOf } from '../session/session.ts'

/** Remembers what a passkey has to sign in the request's session, which begins with it if there was none. */
export async function giveChallenge(
  request: FastifyRequest,
  services: Ports<'db' | 'now'>,
  purpose: ChallengePurpose,
  challenge: string,
): Promise<void> {
  request.session.challengedAt = momentOf(services)
  await keepChallenge(
    services.db,
    { sessionHash: sessionHashOf(request), purpose },
    challenge,
    services.now(),
  )
}

/** The challenge of the request's session, once: whether or not what signed it is good, it cannot be used again. */
export function challengeIn(
  request: FastifyRequest,
  { db, now }: Ports<'db' | 'now'>,
  purpose: ChallengePurpose,
): Promise<string | undefined> {
  return takeChallenge(db, { sessionHash: sessionHashOf(request), purpose }, now())
}
