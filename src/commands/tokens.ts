import { newId } from '../credentials/id.ts'
import { newToken } from '../credentials/token.ts'
import type { Scope } from '../domain/token/scopes.ts'
import {
  absentToken,
  decideToken,
  evolveToken,
  type Token,
  type TokenCommand,
} from '../domain/token/token.ts'
import { loadFromLog } from '../ledger/load.ts'
import { tokenStream } from '../ledger/streams.ts'
import { causeOf, momentOf, type Origin, type Services } from './services.ts'

export type NewToken = { tokenId: string; token: string; scopes: readonly Scope[]; expiresAt: string | null }

/**
 * The answer holds the token itself, which is nowhere else.
 * @throws Refusal `expiry_in_the_past`
 */
export async function createToken(
  services: Services,
  asked: { tenantId: string; name: string; scopes: readonly Scope[]; expiresAt: string | null },
  origin: Origin,
): Promise<NewToken> {
  const tokenId = newId('tok')
  const { token, tokenHash } = newToken('pat', services.randomBytes)
  const { events } = await change(
    services,
    tokenId,
    { type: 'CreateToken', tokenId, tokenHash, ...asked, at: momentOf(services) },
    origin,
  )
  const [created] = events
  return {
    tokenId,
    token,
    scopes: created?.type === 'TokenCreated' ? created.data.scopes : asked.scopes,
    expiresAt: asked.expiresAt,
  }
}

function change(services: Services, tokenId: string, command: TokenCommand, origin: Origin) {
  const stream = tokenStream(tokenId)
  return services.handle<Token, 'token'>({
    stream,
    load: () =>
      loadFromLog(services.ledger, stream, absentToken, (token, { category, event }) =>
        category === 'token' ? evolveToken(token, event) : token,
      ),
    decide: (token) => decideToken(token, command),
    cause: causeOf(origin, command.at),
  })
}
