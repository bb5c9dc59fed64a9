import { z } from 'zod'
import { errorsWith, keyText, text } from '../../http/schemas.ts'

const deviceId = text(256).meta({ description: 'A stable id, chosen by the caller', example: 'machine-7f3a' })

/** Unknown fields are ignored, because callers of all versions send what they know. */
const keyOfProduct = z.object({
  product_id: text(200).meta({ example: 'acme-editor' }),
  license_key: keyText.meta({ example: 'ACME-7KQ2M-9XW4D-R1T8V-0ZB5N-3HJ6C-Y' }),
})

export const activateIn = keyOfProduct.extend({
  device_id: deviceId,
  name: text(200)
    .optional()
    .meta({ description: 'A label for the device; defaults to its id', example: 'MacBook' }),
})

export const validateIn = keyOfProduct.extend({
  device_id: deviceId.optional().meta({ description: 'When absent, only the license is checked' }),
})

export const deactivateIn = keyOfProduct.extend({ device_id: deviceId })

export const runtimeStatus = z.enum([
  'active',
  'fallback',
  'expired',
  'revoked',
  'reminted',
  'inactive',
  'not_found',
  'seat_limit_reached',
  'plan_limit',
])

const verdict = {
  status: runtimeStatus,
  expires_at: z.int().nullable().meta({ description: 'Unix seconds; null for a perpetual license' }),
  entitlements: z.array(z.string()),
  device_id: z.string().nullable(),
  revalidate_after: z.int().meta({ description: 'Unix seconds; do not validate again before this time' }),
  reason: z.string().optional().meta({ description: 'The reason as a stable code' }),
}

export const activateOut = z.object({ activated: z.boolean(), ...verdict })
export const validateOut = z.object({ valid: z.boolean(), ...verdict })
export const deactivateOut = z.object({ deactivated: z.boolean(), reason: z.string().optional() })

const runtimeError = z
  .object({
    error: z.object({
      code: z.enum([
        'invalid_request',
        'unauthorized',
        'forbidden',
        'product_not_found',
        'idempotency_mismatch',
        'idempotency_in_progress',
        'rate_limited',
        'unavailable',
        'internal',
      ]),
      message: z.string(),
    }),
  })
  .meta({
    id: 'RuntimeError',
    example: {
      error: { code: 'product_not_found', message: 'this account has no product with this product_id' },
    },
  })

/** Created per operation: the OpenAPI document would show shared responses in only one of them. */
export const runtimeErrors = () => errorsWith(runtimeError, 400, 401, 403, 404)
