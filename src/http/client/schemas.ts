import { z } from 'zod'
import { type ErrorStatus, errorBody, errorsWith } from '../schemas.ts'

/** The tenant and product that every client call names in its path. */
export const clientPlace = z.object({
  tenantId: z.string().meta({ example: 'acme' }),
  productId: z.string().meta({ example: 'acme-editor' }),
})

/** The settings of a product as apps get them, the same on every call that carries them. */
export const settingsShape = {
  trial_duration_days: z.int().optional().meta({
    description:
      'Days that a new install may run unlicensed; 0: trials are off. Absent: never configured, and then nothing is signed',
  }),
  free_tier_enabled: z.boolean(),
  kid: z.string().optional().meta({ description: 'The signing key, to be looked up in the keyset' }),
  issued_at: z.int().optional().meta({ description: 'Unix seconds' }),
  expires_at: z.int().optional().meta({ description: 'Unix seconds; 24 hours after `issued_at`' }),
  signature: z.string().optional().meta({
    description:
      'Base64 Ed25519 over `cfg1|<kid>|<tenantId>|<productId>|<issued_at>|<expires_at>|<trial_duration_days>|<free_tier_enabled>`',
  }),
}

/** What any client call may be refused with, besides its own statuses. */
export const clientErrors = (...statuses: ErrorStatus[]) => errorsWith(errorBody, 401, 403, 404, ...statuses)
