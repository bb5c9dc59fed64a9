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
])
export type Scope = z.infer<typeof Scope>

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
      at: Moment,
    }),
  }),
  z.object({ type: z.literal('TokenRevoked'), data: z.strictObject({ at: Moment }) }),
])
export type TokenEvent = z.infer<typeof TokenEvent>
