import { isRecord, type Keyset, type Place } from './keyset.ts'
import type { LeaseRefusal } from './lease.ts'
import { footerOf, parseToken, readStatement, type TokenDoubt } from './paseto.ts'
import { readOfRelay } from './relay.ts'
import { type Holder, refused } from './statement.ts'

/** The value of an entitlement; `true` for a mere flag. */
export type EntitlementValue = boolean | number | string

/** The machine that a lease was made for, as the app named it. */
export type LeasedDevice = { machineHash: string | null; components: Readonly<Record<string, string>> }

/** An amount of a meter that the server keeps for an instance: a decimal number, and until when it may be spent. */
export type LeasedAllowance = { id: string; meter: string; amount: string; endsAt: number }

/** A signed statement that a license may be used on a device. All times are Unix seconds. */
export type Lease2 = {
  kid: string
  licenseId: string
  licenseKeyHash: string
  instanceId: string
  /** Null when the app said nothing of its machine. */
  device: LeasedDevice | null
  /** `active`, `fallback`, `expired` or `suspended`; only `active` grants everything. */
  status: string
  entitlements: Readonly<Record<string, EntitlementValue>>
  issuedAt: number
  notBefore: number
  expiresAt: number
  /** When the license itself ends; null for a perpetual one. */
  licenseExpiresAt: number | null
  /** Whom it is licensed to; null where the product does not name them. */
  holder: { name: string | null; email: string | null } | null
  /** The license covers builds of the app until then; null for every build. */
  updatesUntil: number | null
  /** Rises with every statement: of two about the same instance, the one with the higher serial is newer. */
  serial: number
  /**
   * For a license file: its id, the nonce of the request that it answers, and the fence of the floating seat that it borrows. Null for
   * a lease.
   */
  file: { id: string; nonce: string; fence?: number } | null
  /** What the instance may spend of a meter without a network; null for a lease that says nothing of it. */
  allowance: LeasedAllowance | null
  /** The id of the relay that signed it, which the tenant's key has certified; null for a lease of the server. */
  relay: string | null
}

/** As of a lease; `not_yet` means that the clock of the machine is before the lease, `another_device` that it was copied. */
export type Lease2Refusal = LeaseRefusal | 'not_yet' | 'another_device'

/**
 * Verifies a lease of the second version, a `v4.public` token of PASETO: its key is known, it was signed for this tenant
 * and product, it was made for this license key, instance and device, and `now` is within its times. Claims that are not
 * known are ignored.
 * @param now Unix seconds
 * @param expected `device`: what the machine is now; a lease for another one is refused. Leave it out to take any
 */
export function verifyLease2(
  token: unknown,
  { device, licenseKeyHash, instanceId, ...place }: Place & Holder & { device?: LeasedDevice },
  keyset: Keyset,
  now: number,
): Verified {
  const read = readLease2(token, place, keyset)
  if (!read.ok) return read
  const { lease } = read
  if (lease.licenseKeyHash !== licenseKeyHash) return refused('another_license')
  if (lease.instanceId !== instanceId) return refused('another_instance')
  if (device && lease.device && !isSameMachine(lease.device, device)) return refused('another_device')
  if (now < lease.notBefore) return refused('not_yet')
  if (now > lease.expiresAt) return refused('over')
  return read
}

/**
 * Whether the license of a lease covers a build of the app, which stays so for ever.
 * @param builtAt when it was built, in Unix seconds
 */
export const coversBuild = ({ updatesUntil }: Pick<Lease2, 'updatesUntil'>, builtAt: number): boolean =>
  updatesUntil === null || builtAt <= updatesUntil

type Verified = { ok: true; lease: Lease2 } | { ok: false; reason: Lease2Refusal }

/** Verifies only who signed it and for which product: whom it is for and its times are left to the caller. */
export function readLease2(
  token: unknown,
  { tenantId, productId }: Place,
  keyset: Keyset,
): { ok: true; lease: Lease2 } | { ok: false; reason: TokenDoubt } {
  const assertion = `keyledger:lease2:${tenantId}:${productId}`
  const parsed = parseToken(token)
  const certificate = footerOf(parsed)?.relay
  const read =
    parsed && certificate !== undefined
      ? readOfRelay(parsed, assertion, certificate, { tenantId, productId }, keyset)
      : readStatement(parsed, assertion, keyset)
  if (typeof read === 'string') return refused(read)
  const lease = leaseFrom(read)
  return lease ? { ok: true, lease } : refused('malformed')
}

/** By the machine hash, else by more than half of the components that both sides have, and at least two. */
export function isSameMachine(one: LeasedDevice, other: LeasedDevice): boolean {
  if (one.machineHash !== null && one.machineHash === other.machineHash) return true
  const both = sharedNames(one, other)
  const equal = both.filter((name) => one.components[name] === other.components[name]).length
  return equal >= Math.max(2, Math.floor(both.length / 2) + 1)
}

/**
 * Whether both sides say enough to be told apart, and are not the same: a machine that cannot be read at the moment, or only in
 * part, is no other one.
 */
export const isAnotherMachine = (one: LeasedDevice, other: LeasedDevice): boolean =>
  !isSameMachine(one, other) &&
  ((one.machineHash !== null && other.machineHash !== null) || sharedNames(one, other).length >= 2)

const sharedNames = (one: LeasedDevice, other: LeasedDevice): string[] =>
  Object.keys(one.components).filter((name) => Object.hasOwn(other.components, name))

type Read = { kid: string; claims: Record<string, unknown>; relay?: string }

function leaseFrom({ kid, claims, relay }: Read): Lease2 | undefined {
  const { license_id: licenseId, license_key_hash: licenseKeyHash, instance_id: instanceId } = claims
  const { status, serial, file, nonce, fence } = claims
  const device = deviceFrom(claims.device)
  const entitlements = entitlementsFrom(claims.entitlements)
  const [issuedAt, notBefore, expiresAt] = [claims.iat, claims.nbf, claims.exp].map(secondsFrom)
  const licenseExpiresAt = claims.license_expires_at === null ? null : secondsFrom(claims.license_expires_at)
  const updatesUntil = claims.updates_until === undefined ? null : secondsFrom(claims.updates_until)
  if (!isText(licenseId) || !isText(licenseKeyHash) || !isText(instanceId) || !isText(status))
    return undefined
  if (issuedAt === undefined || notBefore === undefined || expiresAt === undefined) return undefined
  if (device === undefined || licenseExpiresAt === undefined || updatesUntil === undefined) return undefined
  if (!entitlements || typeof serial !== 'number' || !Number.isSafeInteger(serial)) return undefined
  return {
    kid,
    licenseId,
    licenseKeyHash,
    instanceId,
    device,
    status,
    entitlements,
    issuedAt,
    notBefore,
    expiresAt,
    licenseExpiresAt,
    updatesUntil,
    holder: holderFrom(claims.holder),
    serial,
    file:
      isText(file) && isText(nonce) ? { id: file, nonce, ...(typeof fence === 'number' && { fence }) } : null,
    allowance: allowanceFrom(claims.allowance),
    relay: relay ?? null,
  }
}

function holderFrom(value: unknown): Lease2['holder'] {
  if (!isRecord(value)) return null
  const [name, email] = [value.name, value.email].map((part) => (isText(part) ? part : null))
  return name || email ? { name: name ?? null, email: email ?? null } : null
}

/** One that is not understood lets nothing be spent. */
function allowanceFrom(value: unknown): Lease2['allowance'] {
  if (!isRecord(value)) return null
  const { id, meter, amount } = value
  const endsAt = secondsFrom(value.ends_at)
  const isAmount = typeof amount === 'string' && /^(?:0|[1-9]\d{0,11})(?:\.\d{1,6})?$/.test(amount)
  return isText(id) && isText(meter) && isAmount && endsAt !== undefined
    ? { id, meter, amount, endsAt }
    : null
}

const isText = (value: unknown): value is string => typeof value === 'string' && value !== ''

/** Times are written as RFC 3339 asks, in UTC and whole seconds. */
export function secondsFrom(value: unknown): number | undefined {
  if (typeof value !== 'string' || !/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/.test(value)) return undefined
  const ms = Date.parse(value)
  return Number.isNaN(ms) ? undefined : ms / 1000
}

/** @returns undefined for what is no device */
function deviceFrom(value: unknown): LeasedDevice | null | undefined {
  if (value === undefined) return null
  if (!isRecord(value)) return undefined
  const { machine_hash: machineHash = null, components = {} } = value
  if (machineHash !== null && typeof machineHash !== 'string') return undefined
  if (!isRecord(components)) return undefined
  const texts = Object.entries(components).filter((entry): entry is [string, string] => isText(entry[1]))
  return texts.length === Object.keys(components).length
    ? { machineHash, components: Object.fromEntries(texts) }
    : undefined
}

/** Of an entitlement with a value of another kind, nothing is known. */
function entitlementsFrom(value: unknown): Record<string, EntitlementValue> | undefined {
  if (!isRecord(value)) return undefined
  return Object.fromEntries(
    Object.entries(value).filter((entry): entry is [string, EntitlementValue] =>
      ['boolean', 'number', 'string'].includes(typeof entry[1]),
    ),
  )
}
