import { z } from 'zod'
import { entitlementsFor, entitlementValuesFor } from '../../../projections/licenses/entitlements.ts'
import type { LicenseEntry } from '../../../projections/licenses/queries.ts'
import { graceUntilOf } from '../../domain/licenses/grace.ts'
import type { IssuedLicense } from '../../domain/licenses/license.ts'
import { relaySeats } from '../../domain/licenses/relay-seats.ts'
import type { Seat } from '../../domain/licenses/seats.ts'
import { shownSeat } from '../../domain/licenses/seats.ts'
import type { SharingState } from '../../domain/licenses/sharing.ts'
import { licenseStatuses, statusAt } from '../../domain/licenses/status.ts'
import { Duration } from '../../domain/products/key-type.ts'
import { Slug } from '../../domain/values.ts'
import type { Person } from '../../vault/subjects.ts'
import { momentOut } from '../schemas.ts'
import { entitlementValuesOut } from './entitlement-values.ts'
import { seatPolicyShape, seatPolicyShown } from './seats.ts'

/** Its status at a moment. */
export const licenseStatus = z.enum(licenseStatuses).meta({
  description:
    '`active`: valid. `fallback`: past its end, and valid with the fallback entitlements. `expired`: past its end. `suspended`: ' +
    'not valid until it is resumed. `revoked`: not valid for good, unless it is reinstated',
  example: 'active',
})

/** How a license came to be. */
export const licenseSource = z.enum(['api', 'import', 'sale', 'test']).meta({
  description:
    '`api`: minted by its vendor. `import`: imported from another system. `sale`: issued for a sale. `test`: issued by a ' +
    'test purchase',
  example: 'sale',
})

const startsWith = Duration.optional().meta({
  description:
    'The term that starts at the first activation, which sets `expiresAt`. Absent when none waits for that',
  example: { count: 1, unit: 'year' },
})

const License = z.object({
  id: z.string().meta({ description: 'The id of the license', example: 'lic_06f5w3k8hx7vq2m4n9t1r0s5zc' }),
  productId: Slug,
  keyTypeId: Slug,
  displayKey: z.string(),
  status: licenseStatus,
  quantity: z.int(),
  deviceLimit: z.int().nullable(),
  ...seatPolicyShape,
  seatsUsed: z.int(),
  relaySeats: z.int().optional().meta({
    description: 'How many seats relays take besides; absent when none',
    example: 5,
  }),
  entitlements: z.array(z.string()),
  entitlementValues: entitlementValuesOut.optional(),
  expiresAt: momentOut.nullable(),
  startsWith,
  graceUntil: momentOut
    .optional()
    .meta({ description: 'Until when it stays active after its expiry; absent without a grace' }),
  email: z.string().nullable(),
  customerId: z.string().nullable(),
  source: licenseSource,
  saleId: z.string().nullable(),
  test: z.boolean(),
  metadata: z.record(z.string(), z.string()),
  createdAt: momentOut,
  updatesUntil: momentOut.optional().meta({
    description:
      'The license covers builds of the app until this moment, for ever. Absent when it covers every build',
  }),
  suspendedAt: momentOut.optional(),
  sharingNoticedAt: momentOut.optional().meta({
    description:
      'When it was last noticed that it looks shared. Absent once it is reminted, or its use allowed as it is',
  }),
  sharingAllowed: z.literal(true).optional().meta({
    description: 'Its use is allowed as it is: no rule about sharing notices it. Absent otherwise',
  }),
  revokedAt: momentOut.optional().meta({ description: 'When it was revoked; absent unless it is' }),
})

export const licenseOut = License.meta({
  id: 'License',
  description: 'A license as it is now, or was at the moment that was asked for',
})

/** By what a device is recognized, and whether it goes on without a network. */
export const recognizedShape = {
  identifiedBy: z
    .array(z.string())
    .optional()
    .meta({
      description:
        'By what the device is recognized: `machine`, and the names of its components. Absent if it has not said it',
      example: ['machine', 'board', 'disk'],
    }),
  inTwoPlacesAt: momentOut.optional().meta({
    description:
      'When two machines with one hash were last noticed in this seat, such as copies of a virtual machine. Absent unless they were',
  }),
  fileEndsAt: momentOut.optional().meta({
    description:
      'Until when its license file lets the device go on without a network; it keeps its seat until then. Absent without a file',
    example: '2027-11-24T14:05:12.000Z',
  }),
}

export const licenseDetailOut = License.extend({
  devices: z
    .array(
      z.object({
        deviceId: z.string(),
        instanceId: z.string(),
        name: z.string().meta({ description: 'The label of the device', example: 'MacBook' }),
        platform: z.string().nullable(),
        status: z
          .enum(['active', 'deactivated'])
          .meta({ description: '`active` while the device has a seat', example: 'active' }),
        activatedAt: momentOut,
        deactivatedAt: momentOut.nullable(),
        ...recognizedShape,
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
              'What the app on the device last reported about itself; updated within seconds, once a day or on change. null ' +
              'if it reported nothing, and for past moments',
          }),
      }),
    )
    .meta({ description: 'Every device that has or had a seat' }),
}).meta({ id: 'LicenseDetail', description: 'A license with its devices' })

/** What the events of a license alone decide. */
export const licenseAloneOut = License.omit({
  entitlements: true,
  entitlementValues: true,
  relaySeats: true,
}).meta({
  id: 'LicenseAfterEvent',
  description:
    'A license right after an event, as `GET /v1/licenses` shows it, without `entitlements` and `relaySeats`: these change without ' +
    'an event of the license, with its key type, its customer and the time',
})

/** The public form of a license at this time. */
export function licenseView(entry: LicenseEntry, person: Person, now: string): z.infer<typeof licenseOut> {
  const view = licenseAloneView(entry.license, person.email, now)
  const entitlements = entitlementsFor(view.status, entry, now)
  const entitlementValues = entitlementValuesFor(entitlements, entry, now)
  const taken = relaySeats(entry.license, now)
  return {
    ...view,
    ...(taken > 0 && { relaySeats: taken }),
    entitlements,
    ...(entitlementValues && { entitlementValues }),
  }
}

/** {@link licenseView} without what changes by itself. */
export function licenseAloneView(
  license: IssuedLicense,
  email: string | null,
  now: string,
): z.infer<typeof licenseAloneOut> {
  const graceUntil = graceUntilOf(license)
  return {
    id: license.licenseId,
    productId: license.productId,
    keyTypeId: license.keyTypeId,
    displayKey: license.displayKey,
    status: statusAt(license, now),
    quantity: license.quantity,
    deviceLimit: license.deviceLimit,
    ...seatPolicyShown({ floatingSeats: license.floating, namedSeats: license.named?.rules }),
    seatsUsed: license.seatsUsed,
    expiresAt: license.expiresAt,
    ...(license.startsWith && { startsWith: license.startsWith }),
    ...(graceUntil !== null && { graceUntil }),
    email,
    customerId: license.customerId,
    source: license.source,
    saleId: license.saleId,
    test: license.test,
    metadata: license.metadata,
    createdAt: license.createdAt,
    ...(license.updatesUntil !== null && { updatesUntil: license.updatesUntil }),
    ...(license.suspendedAt !== null && { suspendedAt: license.suspendedAt }),
    ...sharingShown(license.sharing),
    ...(license.revokedAt !== null && { revokedAt: license.revokedAt }),
  }
}

const sharingShown = (sharing: SharingState | null) => ({
  ...(sharing !== null && sharing.openSince !== null && { sharingNoticedAt: sharing.openSince }),
  ...(sharing?.allowed && { sharingAllowed: true as const }),
})

type DeviceView = z.infer<typeof licenseDetailOut>['devices'][number]

/** @param telemetry what the license's devices last reported, by instance id */
export const deviceView =
  (telemetry: ReadonlyMap<string, NonNullable<DeviceView['telemetry']>>) =>
  (seat: Seat): DeviceView => ({
    ...shownSeat(seat),
    telemetry: telemetry.get(seat.instanceId) ?? null,
  })
