import fc from 'fast-check'
import type { LicenseEvent, LicenseTerms } from '../../../src/domain/licenses/events.ts'
import type { DesiredState } from '../../../src/domain/licenses/following.ts'
import type { LicenseCommand } from '../../../src/domain/licenses/license.ts'

export const at = '2026-03-01T12:00:00.000Z'
export const later = '2026-03-02T12:00:00.000Z'
/** When the time-limited licenses of these samples expire. */
export const end = '2026-04-01T12:00:00.000Z'
export const afterEnd = '2026-04-02T12:00:00.000Z'
export const nextEnd = '2026-05-01T12:00:00.000Z'

/** One device, until {@link end}. */
export const terms: LicenseTerms = {
  licenseId: 'lic_1',
  tenantId: 'acme',
  productId: 'editor',
  keyTypeId: 'pro',
  keyHash: 'a'.repeat(64),
  displayKey: 'ACME…7777',
  quantity: 1,
  deviceLimit: 1,
  expiresAt: end,
  onExpiry: 'expire',
  holder: null,
  customerId: null,
  source: 'api',
  saleId: null,
  test: false,
  metadata: {},
  createdAt: at,
  at,
}

export const minted = (own: Partial<LicenseTerms> = {}): LicenseEvent => ({
  type: 'LicenseMinted',
  data: { ...terms, ...own },
})

export type DeviceId = 'laptop' | 'desktop' | 'phone'

export const device = (deviceId: DeviceId) => ({
  deviceId,
  instanceId: `ins_${deviceId}`,
  installId: null,
  name: `The ${deviceId}`,
  platform: 'linux',
})

export const activated = (deviceId: DeviceId, moment = at): LicenseEvent => ({
  type: 'DeviceActivated',
  data: { ...device(deviceId), at: moment },
})

export const deactivated = (deviceId: DeviceId, moment = at): LicenseEvent => ({
  type: 'DeviceDeactivated',
  data: { deviceId, instanceId: `ins_${deviceId}`, at: moment },
})

export const reminted = (keepDevices: boolean): LicenseEvent => ({
  type: 'LicenseReminted',
  data: { keyHash: 'b'.repeat(64), displayKey: 'ACME…8888', keepDevices, at },
})

export const revoked: LicenseEvent = {
  type: 'LicenseRevoked',
  data: { reason: 'abuse', cause: 'person', at },
}
export const expired: LicenseEvent = { type: 'LicenseExpired', data: { expiresAt: end, at: afterEnd } }
export const fellBack: LicenseEvent = { type: 'LicenseFellBack', data: { expiresAt: end, at: afterEnd } }
export const renewed: LicenseEvent = { type: 'LicenseRenewed', data: { expiresAt: nextEnd, at: later } }

/** A license follows its sale, which wants nothing else of it than what is given. */
export const followSale = (wish: Partial<DesiredState> = {}) => ({
  type: 'FollowSale' as const,
  saleId: 'cs_1',
  through: 1,
  refunded: [],
  unpaid: null,
  keepRefunded: false,
  expiresAt: undefined,
  isRenewed: false,
  hasEnded: false,
  terms: null,
  at: later,
  ...wish,
})

export const linked = (customerId: string): LicenseEvent => ({
  type: 'CustomerLinked',
  data: { customerId, at },
})

const customerIds = fc.constantFrom('cus_1', 'cus_2')
const deviceIds = fc.constantFrom<DeviceId>('laptop', 'desktop', 'phone')
const moments = fc.constantFrom(at, later, end, afterEnd, nextEnd)
const someTerms = fc
  .record({
    deviceLimit: fc.constantFrom(1, 2, 3, null),
    expiresAt: fc.constantFrom(end, null),
    onExpiry: fc.constantFrom('expire' as const, 'fallback' as const),
  })
  .map((own): LicenseTerms => ({ ...terms, ...own }))

/** Commands that issue a license: no other is possible on an absent one. */
export const issues: fc.Arbitrary<LicenseCommand> = fc.oneof(
  someTerms.map((issued): LicenseCommand => ({ type: 'MintLicense', terms: issued })),
  fc.tuple(someTerms, fc.subarray<DeviceId>(['laptop', 'desktop', 'phone']), fc.boolean()).map(
    ([issued, ids, isRevoked]): LicenseCommand => ({
      type: 'ImportLicense',
      terms: issued,
      devices: ids.map(device),
      revoked: isRevoked,
    }),
  ),
)

/** Any command, mostly about devices, at moments before and after the expiry. */
export const commands: fc.Arbitrary<LicenseCommand> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc
      .tuple(deviceIds, moments)
      .map(([id, moment]): LicenseCommand => ({ type: 'ActivateDevice', ...device(id), at: moment })),
  },
  {
    weight: 4,
    arbitrary: fc
      .tuple(deviceIds, moments)
      .map(([deviceId, moment]): LicenseCommand => ({ type: 'DeactivateDevice', deviceId, at: moment })),
  },
  fc.tuple(fc.boolean(), moments).map(
    ([keepDevices, moment]): LicenseCommand => ({
      type: 'RemintLicense',
      keyHash: 'b'.repeat(64),
      displayKey: 'ACME…8888',
      keepDevices,
      at: moment,
    }),
  ),
  moments.map((moment): LicenseCommand => ({ type: 'RevokeLicense', reason: null, at: moment })),
  fc
    .tuple(moments, moments)
    .map(([expiresAt, moment]): LicenseCommand => ({ type: 'RenewLicense', expiresAt, at: moment })),
  moments.map((moment): LicenseCommand => ({ type: 'EndPaidPeriod', at: moment })),
  customerIds.map((customerId): LicenseCommand => ({ type: 'LinkCustomer', customerId, at })),
  issues,
)

/** Any event, in sequences that no decision could produce. */
export const events: fc.Arbitrary<LicenseEvent> = fc.oneof(
  fc
    .tuple(fc.constantFrom('LicenseMinted' as const, 'LicenseImported' as const), someTerms)
    .map(([type, data]): LicenseEvent => ({ type, data })),
  fc.tuple(deviceIds, moments).map(([id, moment]) => activated(id, moment)),
  fc.tuple(deviceIds, moments).map(([id, moment]) => deactivated(id, moment)),
  fc.boolean().map(reminted),
  customerIds.map(linked),
  fc.constantFrom(revoked, expired, fellBack, renewed),
)

/** An app that takes a seat, and one that says what its machine is. */
export const instanceCommands: LicenseCommand[] = [
  {
    type: 'ActivateInstance',
    instanceId: 'ins_2',
    platform: null,
    claim: { instanceId: null, installId: null, name: 'Desktop', identities: [] },
    atLeast: null,
    at,
  },
  {
    type: 'IdentifyDevice',
    deviceId: 'laptop',
    claim: {
      instanceId: null,
      installId: null,
      name: null,
      identities: [{ subjectId: 'sub_1', machine: 'hash', components: {} }],
    },
    at,
  },
]
