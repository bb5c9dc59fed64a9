import { z } from 'zod'
import { entitlementsFor } from '../../../projections/licenses/entitlements.ts'
import type { LicenseEntry } from '../../../projections/licenses/queries.ts'
import { type IssuedLicense, licenseStatuses, type Seat, statusAt } from '../../domain/licenses/license.ts'
import { shownSeat } from '../../domain/licenses/seats.ts'
import { Slug } from '../../domain/values.ts'
import type { Person } from '../../vault/subjects.ts'
import { momentOut } from '../schemas.ts'

const License = z.object({
  id: z.string().meta({ example: 'lic_06f5w3k8hx7vq2m4n9t1r0s5zc' }),
  productId: Slug,
  keyTypeId: Slug,
  displayKey: z.string().meta({ description: 'The key, masked', example: 'ACME…7KQ2' }),
  status: z.enum(licenseStatuses),
  quantity: z.int(),
  deviceLimit: z.int().nullable(),
  seatsUsed: z.int(),
  entitlements: z.array(z.string()),
  expiresAt: momentOut.nullable(),
  email: z.string().nullable(),
  customerId: z.string().nullable(),
  source: z.enum(['api', 'import', 'sale', 'test']),
  saleId: z.string().nullable(),
  test: z.boolean(),
  metadata: z.record(z.string(), z.string()),
  createdAt: momentOut,
  suspendedAt: momentOut.optional(),
  revokedAt: momentOut.optional(),
})

export const licenseOut = License.meta({ id: 'License' })

export const licenseDetailOut = License.extend({
  devices: z.array(
    z.object({
      deviceId: z.string(),
      instanceId: z.string(),
      name: z.string(),
      platform: z.string().nullable(),
      status: z.enum(['active', 'deactivated']),
      activatedAt: momentOut,
      deactivatedAt: momentOut.nullable(),
      telemetry: z
        .object({
          appVersion: z.string().nullable(),
          sdkVersion: z.string().nullable(),
          platform: z.string().nullable(),
          sdk: z.string().nullable(),
          seenAt: momentOut,
        })
        .nullable()
        .meta({
          description:
            'What the app on the device last reported about itself; updated within seconds, once a day or on change',
        }),
    }),
  ),
}).meta({ id: 'LicenseDetail' })

/** What the events of a license alone decide. */
export const licenseAloneOut = License.omit({ entitlements: true }).meta({
  id: 'LicenseAfterEvent',
  description:
    'A license right after an event, as `GET /v1/licenses` shows it, without `entitlements`: these follow from its key type ' +
    'and its customer, and change without an event of the license',
})

/** The public form of a license at this time. */
export function licenseView(entry: LicenseEntry, person: Person, now: string): z.infer<typeof licenseOut> {
  const view = licenseAloneView(entry.license, person.email, now)
  return { ...view, entitlements: entitlementsFor(view.status, entry, now) }
}

/** {@link licenseView} without the entitlements. */
export function licenseAloneView(
  license: IssuedLicense,
  email: string | null,
  now: string,
): z.infer<typeof licenseAloneOut> {
  return {
    id: license.licenseId,
    productId: license.productId,
    keyTypeId: license.keyTypeId,
    displayKey: license.displayKey,
    status: statusAt(license, now),
    quantity: license.quantity,
    deviceLimit: license.deviceLimit,
    seatsUsed: license.seatsUsed,
    expiresAt: license.expiresAt,
    email,
    customerId: license.customerId,
    source: license.source,
    saleId: license.saleId,
    test: license.test,
    metadata: license.metadata,
    createdAt: license.createdAt,
    ...(license.suspendedAt !== null && { suspendedAt: license.suspendedAt }),
    ...(license.revokedAt !== null && { revokedAt: license.revokedAt }),
  }
}

type DeviceView = z.infer<typeof licenseDetailOut>['devices'][number]

/** @param telemetry what the license's devices last reported, by instance id */
export const deviceView =
  (telemetry: ReadonlyMap<string, NonNullable<DeviceView['telemetry']>>) =>
  (seat: Seat): DeviceView => ({
    ...shownSeat(seat),
    telemetry: telemetry.get(seat.instanceId) ?? null,
  })
