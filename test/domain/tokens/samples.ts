import type { TokenCommand } from '../../../src/domain/tokens/token.ts'

const at = '2026-03-01T12:00:00.000Z'
const create = {
  type: 'CreateToken',
  tokenId: 'tok_1',
  tenantId: 'acme',
  name: '',
  tokenHash: 'a',
  scopes: [],
  expiresAt: null,
  at,
} as const

/** At least one of each type. */
export const tokenCommands: readonly TokenCommand[] = [
  create,
  { ...create, resellerId: 'rsl_1' },
  { type: 'RevokeToken', at },
]
