import type { FastifyRequest } from 'fastify'
import type { Services } from '../../commands/services.ts'

/** How long a browser may take to get a passkey from its owner. */
const challengeMs = 5 * 60_000

/** Remembers in the session what a passkey has to sign, and what for. */
export function keepChallenge(
  { session }: FastifyRequest,
  services: Pick<Services, 'now'>,
  value: string,
  purpose: string,
): void {
  session.challenge = { value, purpose, at: services.now().toISOString() }
}

/** The challenge, once: whether or not what signed it is good, it cannot be used again. */
export async function takeChallenge(
  { session }: FastifyRequest,
  services: Pick<Services, 'now'>,
  purpose: string,
): Promise<string | undefined> {
  const { challenge } = session
  session.challenge = undefined
  if (challenge) await session.save()
  const fresh = challenge && services.now().getTime() - Date.parse(challenge.at) < challengeMs
  return fresh && challenge.purpose === purpose ? challenge.value : undefined
}
