import { z } from 'zod'

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
