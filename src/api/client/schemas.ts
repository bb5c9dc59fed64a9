import { z } from 'zod'
import { type Answer, type ErrorStatus, errorBody, errorsWith, keyText, text } from '../../http/schemas.ts'
import { receiptOut } from '../receipt.ts'
import { scopes } from './limits.ts'
import { telemetryShape } from './telemetry.ts'

/** The tenant and product in the path of every client call. */
export const clientPlace = z.object({
  tenantId: z.string().meta({ example: 'acme' }),
  productId: z.string().meta({ example: 'acme-editor' }),
})

/** The settings of a product, the same in every response that carries them. */
export const settingsShape = {
  trial_duration_days: z.int().optional().meta({
    description:
      'Days that a new install may run without a license; 0 means trials are off. Absent if not configured, and then nothing is signed',
  }),
  free_tier_enabled: z.boolean(),
  kid: z.string().optional().meta({ description: 'The id of the signing key in the keyset' }),
  issued_at: z.int().optional().meta({ description: 'Unix seconds' }),
  expires_at: z.int().optional().meta({ description: 'Unix seconds; 24 hours after `issued_at`' }),
  signature: z.string().optional().meta({
    description:
      'Base64 Ed25519 over `cfg1|<kid>|<tenantId>|<productId>|<issued_at>|<expires_at>|<trial_duration_days>|<free_tier_enabled>`',
  }),
}

const limitHeaders = {
  'X-Service-Limit-Scope': {
    type: 'string',
    enum: scopes,
    description:
      'Which limit was exceeded: that of the address on this route, of the tenant, of this instance of the license, or of new anonymous instances of the tenant',
  },
  'X-Service-Limit': {
    type: 'integer',
    description: 'The steady rate per minute; for `new_instances`, per hour',
  },
  'X-Service-Remaining': { type: 'integer', description: '0' },
} as const

/** Documents the rate limit headers on the 429 of a client call. */
export function withLimits(answers: Record<string, Answer>): Record<string, Answer> {
  const { 429: refused } = answers
  return refused
    ? { ...answers, 429: { ...refused, headers: { ...refused.headers, ...limitHeaders } } }
    : answers
}

/**
 * For routes that return settings: serializes fields in their given order, so that the settings are the same bytes
 * in each response. A compiled serializer would put required fields first.
 */
export const asItStands = { serializerCompiler: () => (answered: unknown) => JSON.stringify(answered) }

/** The errors of every client call, in addition to the given statuses. */
export const clientErrors = (...statuses: ErrorStatus[]) =>
  withLimits(errorsWith(errorBody, 401, 403, 404, ...statuses))

const licenseKey = keyText.meta({ example: 'ACME-7KQ2M-9XW4D-R1T8V-0ZB5N-3HJ6C-Y' })
const instanceId = text(256).meta({
  description: 'The instance id that activate returned',
  example: 'ins_01k9m3v5q7e8ra9c1d3f5g7h9j',
})

/** Unknown fields are ignored, because apps of all versions send what they know. */
export const activateIn = z.object({
  license_key: licenseKey,
  instance_name: text(200).meta({ description: 'A label for the device', example: 'MacBook' }),
  free_tier_instance_id: text(128)
    .optional()
    .meta({ description: 'The anonymous id that the install had before' }),
  receipt: z.boolean().optional().meta({
    description: 'Whether to answer with a proof that the license is in the signed log; may take two seconds',
  }),
  ...telemetryShape,
})

export const validateIn = z.object({
  license_key: licenseKey,
  instance_id: instanceId,
  ...telemetryShape,
})

export const deactivateIn = z.object({ license_key: licenseKey, instance_id: instanceId })

const lease = z.object({
  kid: z.string(),
  licenseKeyHash: z.string().meta({ description: 'Hex SHA-256 of the normalized license key' }),
  instanceId: z.string(),
  issuedAt: z.int(),
  expiresAt: z.int(),
  status: z.enum(['active', 'fallback', 'expired', 'suspended']),
  entitlements: z.array(z.string()),
  signature: z.string().meta({
    description:
      'Base64 Ed25519 over `lease1|<kid>|<tenantId>|<productId>|<licenseKeyHash>|<instanceId>|<issuedAt>|<expiresAt>|<status>|<entitlements, comma-separated>`',
  }),
})

const licenseExpiresAt = z
  .int()
  .nullable()
  .meta({ description: 'Unix seconds; null for a perpetual license' })

export const activateOut = z.object({
  activated: z.literal(true),
  instance_id: z.string(),
  license_expires_at: licenseExpiresAt,
  lease,
  receipt: receiptOut
    .nullable()
    .optional()
    .meta({
      description:
        'Only when asked for; null when no checkpoint covers the license yet, and for a license whose record would let its imported ' +
        'key be guessed',
    }),
})

export const validateOut = z.object({
  valid: z.boolean(),
  error: z
    .string()
    .optional()
    .meta({ description: 'Only for a license that is suspended or has expired without a fallback' }),
  license_expires_at: licenseExpiresAt,
  lease,
  ...settingsShape,
})

const refusedReason = z
  .enum([
    'revoked',
    'suspended',
    'expired',
    'reminted',
    'inactive',
    'not_found',
    'seat_limit_reached',
    'plan_limit',
  ])
  .optional()
  .meta({ description: 'For programs: why the license refuses. Absent when something else does' })

const signedRefusal = z.object({
  kid: z.string(),
  licenseKeyHash: z.string().meta({ description: 'Hex SHA-256 of the normalized license key' }),
  instanceId: z.string(),
  issuedAt: z.int(),
  reason: z.enum(['revoked', 'reminted', 'inactive']),
  signature: z.string().meta({
    description:
      'Base64 Ed25519 over `refusal1|<kid>|<tenantId>|<productId>|<licenseKeyHash>|<instanceId>|<issuedAt>|<reason>`',
  }),
})

/** A refused activation or deactivation. */
export const activateRefusal = errorBody
  .extend({ reason: refusedReason })
  .meta({ id: 'ClientRefusal', example: { error: 'license revoked', reason: 'revoked' } })

/** Callers without a license also get the settings, which decide over a trial or a free tier. */
export const validateRefusal = errorBody
  .extend({
    reason: refusedReason,
    refusal: signedRefusal
      .optional()
      .meta({ description: 'The signed refusal; absent for an unknown key, and when signing fails' }),
    ...settingsShape,
    free_tier_enabled: z.boolean().optional(),
  })
  .meta({
    id: 'ClientValidateRefusal',
    example: { error: 'license revoked', reason: 'revoked', free_tier_enabled: false },
  })

export const deactivateOut = z.object({ deactivated: z.literal(true) })
