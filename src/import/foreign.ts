import type { OrganizationRole } from '../domain/organizations/events.ts'
import type { EntitlementValues } from '../domain/products/entitlement-values.ts'
import type { Duration, FloatingSeats } from '../domain/products/key-type.ts'

/** The other systems whose licenses can be imported. */
export const sourceNames = ['keygen', 'lemonsqueezy', 'gumroad', 'cryptlex', 'paddle', 'csv'] as const
export type SourceName = (typeof sourceNames)[number]

/** A device as another system knows it. */
export type ForeignDevice = {
  /** The fingerprint or id by which the app asks; it becomes the device id. */
  deviceId: string
  name: string | null
  /** ISO 8601; decides which devices are left out when there are more than seats. */
  lastSeen: string | null
  /** The text by which its app knows the machine; absent when the system has none. */
  machine?: string | undefined
  /** The parts of the machine by which its app knows it, in the other system's words; absent when it has none. */
  components?: readonly ForeignComponent[] | undefined
}

/** A part of a machine; null for what cannot be read. */
export type ForeignComponent = { name: string | null; value: string | null }

/** A person of an organization, as another system knows them. */
export type ForeignPerson = { email: string | null; name: string | null; role: OrganizationRole }

/** An organization as another system knows it, or what is the same there: people who share licenses. */
export type ForeignOrganization = {
  /** Where it was read, for the report. */
  from: string
  externalId: string
  name: string | null
  /** Its own address; null when only its people have one. */
  email: string | null
  people: readonly ForeignPerson[]
  /** The other system's own fields, as text. */
  metadata: Readonly<Record<string, string>>
  /** What of it cannot be taken along, each as a sentence. */
  leftOut: readonly string[]
}

/** A license as another system knows it, in the same form for all of them. */
export type ForeignLicense = {
  /** Where it was read, for the report: a file with the line or the position in it. */
  from: string
  externalId: string | null
  /** null when the system does not give the key away. */
  licenseKey: string | null
  productId: string | null
  policyId: string | null
  /** The key type that it has here, which alone decides what it entitles to; absent for a license of another system. */
  keyTypeId?: string | undefined
  /** All that it entitles to; null when its policy alone decides. */
  entitlements: readonly string[] | null
  /** The values of its `entitlements`, by name; absent when none has a value. */
  entitlementValues?: EntitlementValues | undefined
  email: string | null
  name: string | null
  /** The organization that it belongs to; absent for a license of one person. */
  organization?: ForeignOrganization | undefined
  createdAt: string | null
  /** null for a perpetual license; undefined when the key type's duration counts from `createdAt`. */
  expiresAt: string | null | undefined
  /** The last moment of a build that it covers; null for every build, undefined for the updates of its key type. */
  updatesUntil: string | null | undefined
  status: 'active' | 'fallback' | 'suspended' | 'expired' | 'revoked'
  /** The devices that it allows in all; null for no limit, undefined for the limit of its key type. */
  seats: number | null | undefined
  /** Only for key types that are sold in multiples. */
  quantity: number
  devices: readonly ForeignDevice[]
  /** The other system's own fields, as text. */
  metadata: Readonly<Record<string, string>>
  /** What of it cannot be taken along, each as a sentence. */
  leftOut: readonly string[]
}

/** A record of which no license can be made. */
export type Unusable = { from: string; externalId: string | null; licenseKey: string | null; problem: string }

/** The rules that licenses of another system share: a policy, a product, a plan. It becomes a key type. */
export type ForeignPolicy = {
  policyId: string
  name: string
  seats: number | null
  duration: Duration | null
  onExpiry: 'expire' | 'fallback'
  entitlements: readonly string[]
  sellInMultiples: boolean
  /** How the seats of its licenses float; absent where a device keeps its seat. */
  floatingSeats?: FloatingSeats | undefined
}

/**
 * Seats that float for a period of another system, or for the nearest that there is here.
 * @param seconds null or 0 where the system names none
 */
export const floatingFor = (seconds: number | null, scope: FloatingSeats['scope']): FloatingSeats => ({
  seatSeconds: Math.min(Math.max(seconds || usualSeatSeconds, 60), 90 * 86_400),
  overdraft: null,
  scope,
})

const usualSeatSeconds = 600

/** The fields of a license that most systems do not have. */
export const plainLicense = {
  productId: null,
  policyId: null,
  entitlements: null,
  email: null,
  name: null,
  createdAt: null,
  expiresAt: undefined,
  updatesUntil: undefined,
  status: 'active',
  seats: undefined,
  quantity: 1,
  devices: [],
  metadata: {},
  leftOut: [],
} as const satisfies Partial<ForeignLicense>

/** A policy about which the export has nothing but its name. */
export const policyNamed = (policyId: string): ForeignPolicy => ({
  policyId,
  name: policyId,
  seats: 1,
  duration: null,
  onExpiry: 'expire',
  entitlements: [],
  sellInMultiples: false,
})
