import { z } from 'zod'
import { Moment, Slug } from '../values.ts'

/** Everything a token may be allowed to do. A token's scopes are set at its creation and never change. */
export const Scope = z.enum([
  'products:read',
  'products:write',
  'licenses:read',
  'licenses:write',
  'licenses:runtime',
  'integrations:read',
  'integrations:write',
  'customers:read',
  'customers:write',
  'usage:read',
  'danger',
  /** Users and groups of a directory, and nothing else: a token that has it has no other scope. */
  'scim',
])
export type Scope = z.infer<typeof Scope>

/** The scopes that one token may have together. */
export const combinableScopes: readonly Scope[] = Scope.options.filter((scope) => scope !== 'scim')

/** Whether one token may have these scopes: `scim` stands alone. */
export const mayStandTogether = (scopes: readonly Scope[]): boolean =>
  !scopes.includes('scim') || new Set(scopes).size === 1

/** The scopes of a reseller's token. It reaches only the operations that are marked for resellers, whatever its scopes. */
export const resellerScopes: readonly Scope[] = [
  'licenses:read',
  'licenses:write',
  'customers:read',
  'customers:write',
]

/** Everything a `token-<id>` stream may hold. Of the token itself only its SHA-256 is recorded. */
export const TokenEvent = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('TokenCreated'),
    data: z.strictObject({
      tokenId: z.string().min(1),
      tenantId: Slug,
      name: z.string(),
      tokenHash: z.string().length(64),
      scopes: z.array(Scope),
      expiresAt: Moment.nullable(),
      /** The reseller whom it works for; absent for a token of the vendor. */
      resellerId: z.string().min(1).optional(),
      at: Moment,
    }),
  }),
  z.object({ type: z.literal('TokenRevoked'), data: z.strictObject({ at: Moment }) }),
])
export type TokenEvent = z.infer<typeof TokenEvent>
