import { findListedToken, type ListedToken } from '../../projections/tokens/list.ts'
import { isId, newId } from '../credentials/id.ts'
import { newToken } from '../credentials/token.ts'
import { Refusal } from '../domain/refusal.ts'
import type { Scope } from '../domain/tokens/events.ts'
import { type TokenCommand, tokens } from '../domain/tokens/token.ts'
import type { Ports } from '../ports.ts'
import { causeOf, momentOf, type Origin } from './origin.ts'

export type NewToken = { tokenId: string; token: string; scopes: readonly Scope[]; expiresAt: string | null }

/**
 * Creates a token. Only the answer holds the token itself.
 * @param asked with a `tokenId`, the token gets this id, so that a repetition is refused instead of creating
 *   a second token
 * @throws Refusal `expiry_in_the_past`, `token_exists`
 */
export async function createToken(
  ports: Ports<'execute' | 'now' | 'randomBytes'>,
  input: {
    tokenId?: string
    tenantId: string
    name: string
    scopes: readonly Scope[]
    expiresAt: string | null
    /** The reseller whom it works for. */
    resellerId?: string
  },
  origin: Origin,
): Promise<NewToken> {
  const { tokenId = newId('tok'), ...rest } = input
  const { token, tokenHash } = newToken('pat', ports.randomBytes)
  const { events } = await change(
    ports,
    tokenId,
    { type: 'CreateToken', tokenId, tokenHash, ...rest, at: momentOf(ports) },
    origin,
  )
  const [created] = events
  return {
    tokenId,
    token,
    scopes: created?.type === 'TokenCreated' ? created.data.scopes : input.scopes,
    expiresAt: input.expiresAt,
  }
}

/** @throws Refusal `token_not_found`, also for another tenant's token */
export async function requireToken(
  { db }: Ports<'db'>,
  tenantId: string,
  tokenId: string,
): Promise<ListedToken> {
  const found = isId('tok', tokenId) ? await findListedToken(db, tenantId, tokenId) : undefined
  if (!found) throw new Refusal('token_not_found')
  return found
}

/**
 * Revokes a token permanently; a second revocation changes nothing.
 * @throws Refusal `token_not_found`, also for another tenant's token
 */
export async function revokeToken(
  ports: Ports<'db' | 'execute' | 'now'>,
  tenantId: string,
  tokenId: string,
  origin: Origin,
): Promise<void> {
  await requireToken(ports, tenantId, tokenId)
  await change(ports, tokenId, { type: 'RevokeToken', at: momentOf(ports) }, origin)
}

function change(ports: Ports<'execute'>, tokenId: string, command: TokenCommand, origin: Origin) {
  return ports.execute(tokens, tokenId, command, causeOf(origin, command.at))
}
