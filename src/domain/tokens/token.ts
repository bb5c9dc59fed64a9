import type { Decider } from '../decider.ts'
import { Refusal } from '../refusal.ts'
import { mayStandTogether, type Scope, type TokenEvent } from './events.ts'

export type Token =
  | { status: 'absent' }
  | {
      status: 'live' | 'revoked'
      tokenId: string
      tenantId: string
      name: string
      tokenHash: string
      scopes: readonly Scope[]
      expiresAt: string | null
      /** The reseller whom it works for; absent for a token of the vendor. */
      resellerId?: string | undefined
      createdAt: string
      revokedAt: string | null
    }

export type TokenCommand =
  | {
      type: 'CreateToken'
      tokenId: string
      tenantId: string
      name: string
      tokenHash: string
      scopes: readonly Scope[]
      expiresAt: string | null
      resellerId?: string
      at: string
    }
  | { type: 'RevokeToken'; at: string }

export const absentToken: Token = { status: 'absent' }

/**
 * Revoking is final, and a second revocation changes nothing.
 * @throws Refusal `token_exists`, `token_not_found`, `expiry_in_the_past`, `scim_scope_alone`
 */
export function decideToken(token: Token, command: TokenCommand): TokenEvent[] {
  switch (command.type) {
    case 'CreateToken': {
      if (token.status !== 'absent') throw new Refusal('token_exists')
      const { type: _, scopes, ...data } = command
      if (data.expiresAt !== null && data.expiresAt <= data.at) throw new Refusal('expiry_in_the_past')
      if (!mayStandTogether(scopes)) throw new Refusal('scim_scope_alone')
      return [{ type: 'TokenCreated', data: { ...data, scopes: [...new Set(scopes)].sort() } }]
    }
    case 'RevokeToken':
      if (token.status === 'absent') throw new Refusal('token_not_found')
      return token.status === 'revoked' ? [] : [{ type: 'TokenRevoked', data: { at: command.at } }]
  }
}

/** Never refuses: what is recorded has happened. */
export function evolveToken(token: Token, event: TokenEvent): Token {
  switch (event.type) {
    case 'TokenCreated': {
      const { at, ...data } = event.data
      return { ...data, status: 'live', createdAt: at, revokedAt: null }
    }
    case 'TokenRevoked':
      return token.status === 'absent' ? token : { ...token, status: 'revoked', revokedAt: event.data.at }
  }
}

/** The rules of token streams. */
export const tokens: Decider<Token, TokenCommand, 'token'> = {
  category: 'token',
  initial: absentToken,
  decide: decideToken,
  evolve: evolveToken,
}
