import { z } from 'zod'
import { ComponentsOfApp, HashOfApp } from '../../domain/licenses/marks.ts'
import { sdkOf, sdks, type Telemetry } from '../../domain/telemetry.ts'
import { metersIn, metersOutShape } from '../../http/licenses/asked-meters.ts'
import { buildShape, updatesOutShape } from '../../http/licenses/builds.ts'
import { entitlementValuesOut } from '../../http/licenses/entitlement-values.ts'
import { fence, seatShape, waitingShape } from '../../http/licenses/seats.ts'
import { statement } from '../../http/licenses/statement.ts'
import {
  type Answer,
  type ErrorStatus,
  errorBody,
  errorsWith,
  graceShape,
  keyText,
  text,
} from '../../http/schemas.ts'
import type { SaidOfMachine } from '../../vault/device-hashing.ts'
import { receiptOut } from '../receipt.ts'
import { scopes } from './limits.ts'

/** Invalid values are ignored, so that telemetry never keeps an app from its license. */
export const telemetryShape = {
  app_version: text(64).optional().catch(undefined),
  sdk_version: text(64).optional().catch(undefined),
  platform: text(64).optional().catch(undefined),
  sdk: z.enum(sdks).optional().catch(undefined).meta({
    description: 'The language of the SDK in the app; inferred from `platform` when absent',
    example: 'swift',
  }),
}

export type TelemetryIn = z.infer<z.ZodObject<typeof telemetryShape>>

export const telemetryFrom = ({ app_version, sdk_version, platform, sdk }: TelemetryIn): Telemetry => ({
  appVersion: app_version ?? null,
  sdkVersion: sdk_version ?? null,
  platform: platform ?? null,
  sdk: sdkOf(sdk, platform),
})

/** A signature of the form that Ed25519 has, for examples; it verifies nothing. */
const signature = `${'Kx3bT9'.repeat(14)}Kg==`

/** The tenant and product in the path of every client call. */
export const clientPlace = z.object({
  tenantId: z.string(),
  productId: z.string(),
})

/** The settings of a product, the same in every response that carries them. */
export const settingsShape = {
  trial_duration_days: z.int().optional().meta({
    description:
      'Days that a new install may run without a license; 0 means trials are off. Absent if not configured, and then nothing is signed',
    example: 14,
  }),
  free_tier_enabled: z.boolean(),
  kid: z.string().optional().meta({
    description: 'The id of the signing key in the keyset; absent if nothing is signed',
    example: '21fe31dfa154a261',
  }),
  issued_at: z.int().optional().meta({
    description: 'When the settings were signed, in Unix seconds; absent if nothing is signed',
    example: 1_795_253_400,
  }),
  expires_at: z.int().optional().meta({
    description: 'Unix seconds, 24 hours after `issued_at`; absent if nothing is signed',
    example: 1_795_339_800,
  }),
  signature: z.string().optional().meta({
    example: signature,
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

/** How an app names the machine that it runs on. */
export const machineHash = HashOfApp.meta({
  description: 'An identifier of the machine, hashed by the app; stored only as a keyed hash',
  example: 'q1Zb0v3mTn8m4kW2Xw9yBQ==',
})

/** By what the machine is recognized: none of it is stored as it is sent. */
const machineShape = {
  machine_hash: machineHash.optional(),
  device: ComponentsOfApp.optional().meta({
    description:
      'The components of the machine by name, such as `board`, `disk`, `mac`, `os` and `tpm`, each hashed by the app like `machine_hash`: ' +
      'a device whose machine hash has changed is recognized by most of its components',
    example: { board: 'Zm9vYmFyYmF6cXV4MTIzNA==', disk: 'bm90IHRoZSBzYW1lIGRpc2s=' },
  }),
}

/** Which form of lease an app understands. */
const leaseVersion = z
  .union([z.literal(1), z.literal(2)])
  .default(1)
  .meta({
    description:
      'The form of the lease: 1 is `lease`, 2 is `lease2`, a `v4.public` token of PASETO, which also names the machine and the values of entitlements',
    example: 2,
  })

/** What an app says of its machine; undefined when it says nothing. */
export function machineIn({
  machine_hash,
  device = {},
}: z.infer<z.ZodObject<typeof machineShape>>): SaidOfMachine | undefined {
  if (machine_hash === undefined && Object.keys(device).length === 0) return undefined
  return { machineHash: machine_hash ?? null, components: device }
}

/** Unknown fields are ignored, because apps of all versions send what they know. */
export const activateIn = z.object({
  license_key: keyText,
  instance_name: text(200).meta({ description: 'A label for the device', example: 'MacBook' }),
  free_tier_instance_id: text(128)
    .optional()
    .meta({ description: 'The anonymous id that the install had before' }),
  instance_id: text(256)
    .optional()
    .meta({ description: 'The id that this device was given by an earlier activation, if it still has it' }),
  user_id: text(256).optional().meta({
    description: 'Who uses the app, where seats are of users; stored only as a keyed hash',
    example: 'ada@example.com',
  }),
  ...machineShape,
  lease_version: leaseVersion,
  ...buildShape,
  borrow_seconds: z
    .int()
    .min(3600)
    .max(366 * 86_400)
    .optional()
    .meta({
      description:
        'How long the device wants to keep its floating seat without a network; at most what the license allows. Send ' +
        '`borrow_request` with it',
      example: 604_800,
    }),
  borrow_request: statement.optional().meta({
    description: 'The request for a license file that the app made and signed, as text or without its lines',
    example: '-----BEGIN KEYLEDGER REQUEST-----\nv4.public.…\n-----END KEYLEDGER REQUEST-----',
  }),
  receipt: z.boolean().optional().meta({
    description: 'Whether to answer with a proof that the license is in the signed log; may take two seconds',
  }),
  ...telemetryShape,
})

export const validateIn = z.object({
  license_key: keyText,
  instance_id: text(256),
  fence,
  ...machineShape,
  lease_version: leaseVersion,
  ...buildShape,
  meters: metersIn,
  ...telemetryShape,
})

export const heartbeatIn = z.object({ license_key: keyText, instance_id: text(256), fence })

export const deactivateIn = z.object({
  license_key: keyText,
  instance_id: text(256),
  fence,
  release: statement.optional().meta({
    description:
      'With which a device gives back its license file or borrowed seat before the end; made and signed by the app',
    example: '-----BEGIN KEYLEDGER RELEASE-----\nv4.public.…\n-----END KEYLEDGER RELEASE-----',
  }),
})

const lease = z.object({
  kid: z.string(),
  licenseKeyHash: z.string(),
  instanceId: z.string(),
  issuedAt: z.int(),
  expiresAt: z.int().meta({
    description: 'Until when the app may rely on the lease without a connection, in Unix seconds',
    example: 1_796_463_000,
  }),
  status: z
    .enum(['active', 'fallback', 'expired', 'suspended'])
    .meta({ description: 'The status of the license when it was signed', example: 'active' }),
  entitlements: z.array(z.string()),
  signature: z.string().meta({
    example: signature,
    description:
      'Base64 Ed25519 over `lease1|<kid>|<tenantId>|<productId>|<licenseKeyHash>|<instanceId>|<issuedAt>|<expiresAt>|<status>|<entitlements, comma-separated>`',
  }),
})

/** The one that the app has asked for. */
const leaseShape = {
  lease: lease.optional().meta({
    description:
      'A signed statement that this instance may use the license, which the app verifies without a connection. Absent with `lease_version` 2',
  }),
  lease2: z.string().optional().meta({
    description:
      'The same as a `v4.public` token of PASETO, with the implicit assertion `keyledger:lease2:<tenantId>:<productId>`. Absent unless `lease_version` is 2',
    example: 'v4.public.eyJpYXQiOiIyMDI2LTExLTI3VDEwOjAwOjAwWiJ9…',
  }),
  entitlement_values: entitlementValuesOut.optional().meta({
    description:
      'The values of those entitlements that have one, by name; not signed with `lease`, and signed within `lease2`. Absent when none has a value',
  }),
}

const licenseExpiresAt = z.int().nullable().meta({
  description: 'When the license expires, in Unix seconds; null for a perpetual license',
  example: 1_826_789_400,
})

export const activateOut = z.object({
  activated: z.literal(true).meta({ description: 'Always true: the device has a seat' }),
  instance_id: z.string().meta({
    description: 'The id of this device on this license: keep it for validate and deactivate',
    example: 'ins_06f5w3k8hx7vq2m4n9t1r0s5zc',
  }),
  license_expires_at: licenseExpiresAt,
  ...seatShape,
  ...graceShape,
  updates_until: updatesOutShape.updates_until,
  ...leaseShape,
  license_file: z.string().optional().meta({
    description:
      'The license file with which the device goes on without a network. Absent unless it borrows its seat',
    example: '-----BEGIN KEYLEDGER LICENSE-----\nv4.public.…\n-----END KEYLEDGER LICENSE-----\n',
  }),
  receipt: receiptOut
    .nullable()
    .optional()
    .meta({
      description:
        'A proof that the license is in the signed log. Absent unless asked for; null when no checkpoint covers the license yet, and for a license whose record would let its imported ' +
        'key be guessed',
    }),
})

export const validateOut = z.object({
  valid: z.boolean().meta({ description: 'Whether the license is active', example: true }),
  error: z.string().optional().meta({
    description:
      'Why it is not valid, for people. Absent unless it is suspended, has expired without a fallback or does not cover the build',
  }),
  status: z
    .literal('inactive')
    .optional()
    .meta({ description: 'Only where the license does not cover the build; then there is no lease' }),
  reason: z
    .literal('build_not_covered')
    .optional()
    .meta({ description: 'For programs. Only where the license does not cover the build' }),
  license_expires_at: licenseExpiresAt,
  ...seatShape,
  ...graceShape,
  ...updatesOutShape,
  ...leaseShape,
  ...metersOutShape,
  ...settingsShape,
})

const refusedReason = z
  .enum([
    'revoked',
    'suspended',
    'expired',
    'build_not_covered',
    'reminted',
    'inactive',
    'seat_lost',
    'assigned_to_another',
    'not_found',
    'seat_limit_reached',
    'borrowing_off',
    'borrow_limit_reached',
    'plan_limit',
  ])
  .optional()
  .meta({ description: 'For programs: why the license refuses. Absent when something else does' })

const signedRefusal = z.object({
  kid: z.string(),
  licenseKeyHash: z.string(),
  instanceId: z.string(),
  issuedAt: z.int(),
  reason: z
    .enum(['revoked', 'reminted', 'inactive'])
    .meta({ description: 'Why the license refuses this instance', example: 'revoked' }),
  signature: z.string().meta({
    example: signature,
    description:
      'Base64 Ed25519 over `refusal1|<kid>|<tenantId>|<productId>|<licenseKeyHash>|<instanceId>|<issuedAt>|<reason>`',
  }),
})

/** A refused activation or deactivation. */
export const activateRefusal = errorBody
  .extend({ reason: refusedReason, ...updatesOutShape, ...waitingShape })
  .meta({
    id: 'ClientRefusal',
    description: 'Why a license refuses a call of an app',
    example: { error: 'license revoked', reason: 'revoked' },
  })

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
    description:
      'Why a license refuses to be valid, signed where it is known, with the settings of the product',
    example: { error: 'license revoked', reason: 'revoked', free_tier_enabled: false },
  })

export const heartbeatOut = z.object({
  kept: z.literal(true).meta({ description: 'Always true: the device still has its seat' }),
  ...seatShape,
  revalidate_after: z.int().optional().meta({
    description: 'Unix seconds; send the next heartbeat then. Absent for a seat that does not float',
    example: 1_795_257_000,
  }),
})

export const deactivateOut = z.object({
  deactivated: z.literal(true).meta({ description: 'Always true: the instance has no seat' }),
})
