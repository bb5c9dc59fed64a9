import type { FastifyRequest } from 'fastify'
import { type ChallengePurpose, keepChallenge, takeChallenge } from '../../access/challenges.ts'
import { momentOf } from '../../commands/origin.ts'
import type { Ports } from '../../ports.ts'
import { sessionHashOf } from '../session/session.ts'

/** Stores the challenge that a passkey must sign in the request's session; starts a session when there is none. */
export async function giveChallenge(
  request: FastifyRequest,
  ports: Ports<'db' | 'now'>,
  purpose: ChallengePurpose,
  challenge: string,
): Promise<void> {
  request.session.challengedAt = momentOf(ports)
  await keepChallenge(ports.db, { sessionHash: sessionHashOf(request), purpose }, challenge, ports.now())
}

/** Takes the challenge out of the request's session, so that it can be used only once, successfully or not. */
export function challengeIn(
  request: FastifyRequest,
  { db, now }: Ports<'db' | 'now'>,
  purpose: ChallengePurpose,
): Promise<string | undefined> {
  return takeChallenge(db, { sessionHash: sessionHashOf(request), purpose }, now())
}
