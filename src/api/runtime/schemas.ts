import { z } from 'zod'
import { metersIn, metersOutShape } from '../../http/licenses/asked-meters.ts'
import { buildShape, updatesOutShape } from '../../http/licenses/builds.ts'
import { entitlementValuesOut } from '../../http/licenses/entitlement-values.ts'
import { fence, seatShape, waitingShape } from '../../http/licenses/seats.ts'
import { type ErrorStatus, errorsWith, graceShape, keyText, text } from '../../http/schemas.ts'

export const deviceId = text(256).meta({
  description: 'A stable id, chosen by the caller',
  example: 'machine-7f3a',
})

/** Unknown fields are ignored, because callers of all versions send what they know. */
export const keyOfProduct = z.object({
  product_id: text(200),
  license_key: keyText,
})

/** The app on the device, as far as its server knows it; invalid values are ignored. */
const appShape = { app_version: text(64).optional().catch(undefined), ...buildShape }

export const activateIn = keyOfProduct.extend({
  device_id: deviceId,
  name: text(200)
    .optional()
    .meta({ description: 'A label for the device; defaults to its id', example: 'MacBook' }),
  ...appShape,
})

export const validateIn = keyOfProduct.extend({
  device_id: deviceId.optional().meta({ description: 'When absent, only the license is checked' }),
  fence,
  meters: metersIn,
  ...appShape,
})

export const heartbeatIn = keyOfProduct.extend({ device_id: deviceId, fence })

export const deactivateIn = keyOfProduct.extend({ device_id: deviceId, fence })

export const runtimeStatus = z
  .enum([
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
  .meta({
    description:
      'The status of the key on the device. `fallback`: past its end, with the fallback entitlements. `reminted`: the license has ' +
      "a new key. `inactive`: the device has no seat, lost its floating one (`reason: seat_lost`), or seats are of people and it is not the person's whose key was sent (`assigned_to_another`), the license is suspended or does not cover the build of the app. `not_found`: no license of the product has the " +
      'key. `seat_limit_reached` and `plan_limit`: only of activate',
    example: 'active',
  })

const reason = z
  .string()
  .optional()
  .meta({ description: 'Why the call is refused, as a stable code; absent when it is not' })

const revalidateAfter = z.int().meta({
  description: 'Unix seconds; do not validate again before this time',
  example: 1_795_257_000,
})

const verdict = {
  status: runtimeStatus,
  expires_at: z.int().nullable().meta({
    description:
      'When the license expires, in Unix seconds; null for a perpetual license, and where it is not told',
    example: 1_826_789_400,
  }),
  ...graceShape,
  entitlements: z.array(z.string()),
  entitlement_values: entitlementValuesOut.optional(),
  device_id: z.string().nullable().meta({
    description: 'The device of the request; null if it names none',
    example: 'machine-7f3a',
  }),
  revalidate_after: revalidateAfter,
  reason,
  ...seatShape,
  ...updatesOutShape,
}

export const activateOut = z.object({
  activated: z.boolean().meta({ description: 'Whether the device has a seat', example: true }),
  ...verdict,
  ...waitingShape,
})
export const validateOut = z.object({
  valid: z.boolean().meta({ description: 'Whether the status is `active`', example: true }),
  ...verdict,
  ...metersOutShape,
})
export const heartbeatOut = z.object({
  kept: z.boolean().meta({ description: 'Whether the device still has its seat', example: true }),
  status: runtimeStatus,
  ...seatShape,
  revalidate_after: revalidateAfter.meta({
    description: 'Unix seconds; send the next heartbeat then',
    example: 1_795_257_000,
  }),
  device_id: z.string().meta({ description: 'The device of the request', example: 'machine-7f3a' }),
  reason,
})
export const deactivateOut = z.object({
  deactivated: z.boolean().meta({ description: 'Whether the device has no seat now', example: true }),
  reason: z.string().optional().meta({ description: 'Why not, as a stable code; absent when it has none' }),
})

const runtimeError = z
  .object({
    error: z
      .object({
        code: z
          .enum([
            'invalid_request',
            'unauthorized',
            'forbidden',
            'product_not_found',
            'idempotency_mismatch',
            'idempotency_in_progress',
            'rate_limited',
            'unavailable',
            'internal',
          ])
          .meta({ description: 'What went wrong, for programs' }),
        message: z.string().meta({ description: 'What went wrong, for people, and what to do' }),
      })
      .meta({ description: 'The error' }),
  })
  .meta({
    id: 'RuntimeError',
    description: 'The error of the runtime interface',
    example: {
      error: { code: 'product_not_found', message: 'this account has no product with this product_id' },
    },
  })

/** Created per operation: the OpenAPI document would show shared responses in only one of them. */
export const runtimeErrors = (...more: ErrorStatus[]) => errorsWith(runtimeError, 400, 401, 403, 404, ...more)
