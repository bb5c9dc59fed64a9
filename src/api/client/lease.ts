import {
  type Entitling,
  entitlementsFor,
  entitlementValuesFor,
} from '../../../projections/licenses/entitlements.ts'
import { signFile } from '../../commands/devices/files.ts'
import type { FloatingSeat } from '../../commands/devices/floating.ts'
import { unixSeconds } from '../../domain/licenses/expiry.ts'
import type { IssuedLicense } from '../../domain/licenses/license.ts'
import type { LicenseStatus } from '../../domain/licenses/status.ts'
import type { EntitlementValues } from '../../domain/products/entitlement-values.ts'
import { Problem } from '../../http/problem.ts'
import type { Ports } from '../../ports.ts'
import { armored } from '../../signing/armor.ts'
import type { DeviceRequest } from '../../signing/device-statements.ts'
import { namedHolder } from '../../signing/holder.ts'
import { type Lease, signLease } from '../../signing/lease.ts'
import { type SignedAllowance, signLease2 } from '../../signing/lease2.ts'
import { type SignedRefusal, signRefusal } from '../../signing/refusal.ts'
import { SigningFailed } from '../../signing/signer.ts'
import type { SaidOfMachine } from '../../vault/device-hashing.ts'
import type { Person } from '../../vault/subjects.ts'
import { activeKeyFor, type SettingsRequest } from './settings.ts'

type Leased = Entitling & {
  license: Pick<IssuedLicense, 'productId' | 'expiresAt' | 'graceSeconds' | 'onExpiry' | 'updatesUntil'>
}
export type Held = {
  licenseId: string
  keyHash: string
  instanceId: string
  status: LicenseStatus
  /** The form of the lease that the app asks for. */
  version: 1 | 2
  /** The machine that a lease of the second version is for; undefined when the app has not said it. */
  device: SaidOfMachine | undefined
  /** The seat of the instance, if it floats: a lease ends with it. */
  floating?: FloatingSeat | undefined
  /** What a lease of the second version lets the instance spend of a meter. */
  allowance?: SignedAllowance | undefined
}

/**
 * Makes sure that leases can be signed for the client's tenant, before anything is recorded that needs one.
 * @throws Problem 500 when the tenant's signing key cannot be used
 */
export async function requireLeases(
  ports: Ports<'execute' | 'now' | 'randomBytes' | 'secrets' | 'signer'>,
  asking: SettingsRequest,
): Promise<void> {
  try {
    await ports.signer.prepare(asking.client.tenantId, await activeKeyFor(ports, asking))
  } catch (err) {
    refuse(err, asking)
  }
}

/**
 * Signs a lease for an app.
 * @throws Problem 500 when the tenant's signing key cannot be used
 */
export async function leaseFor(
  ports: Ports<'execute' | 'findLicenseById' | 'now' | 'randomBytes' | 'secrets' | 'signer' | 'subjects'>,
  asking: SettingsRequest,
  leased: Leased,
  { licenseId, keyHash, instanceId, status, version, device, floating, allowance }: Held,
  now: string,
): Promise<({ lease: Lease } | { lease2: string }) & { entitlement_values?: EntitlementValues }> {
  const { tenantId, productId, product } = asking.client
  const { license } = leased
  const leaseSeconds = Math.min(product.leaseSeconds, floating ? secondsLeft(floating, now) : Infinity)
  const entitlements = entitlementsFor(status, leased, now)
  const values = entitlementValuesFor(entitlements, leased, now)
  const held = { tenantId, productId, keyHash, instanceId, license, leaseSeconds }
  const facts = { ...held, status, entitlements, values: values ?? {} }
  const beside = values && { entitlement_values: values }
  try {
    const key = await activeKeyFor(ports, asking)
    if (version === 1) return { lease: await signLease(ports.signer, key, facts, now), ...beside }
    const holder = product.leaseHolder ? await holderOf(ports, tenantId, licenseId) : undefined
    return {
      lease2: await signLease2(ports.signer, key, { ...facts, licenseId, device, holder, allowance }, now),
      ...beside,
    }
  } catch (err) {
    return refuse(err, asking)
  }
}

/**
 * Signs the license file with which a device has borrowed its seat.
 * @throws Problem 500 when the tenant's signing key cannot be used
 */
export async function fileText(
  ports: Ports<'execute' | 'now' | 'randomBytes' | 'secrets' | 'signer' | 'subjects'>,
  asking: SettingsRequest,
  recorded: Parameters<typeof signFile>[2],
  request: DeviceRequest,
): Promise<string> {
  const { leaseHolder } = asking.client.product
  try {
    const key = await activeKeyFor(ports, asking)
    return armored('LICENSE', await signFile(ports, key, recorded, { request, leaseHolder }))
  } catch (err) {
    return refuse(err, asking)
  }
}

/** Only products that name the holder pay for the look-up. */
async function holderOf(
  ports: Ports<'findLicenseById' | 'subjects'>,
  tenantId: string,
  licenseId: string,
): Promise<Person | undefined> {
  const found = await ports.findLicenseById(licenseId)
  return found && namedHolder(ports, tenantId, found.license.holder)
}

const secondsLeft = ({ endsAt }: FloatingSeat, now: string): number =>
  Math.max(0, unixSeconds(endsAt) - unixSeconds(now))

/**
 * Signs that a license refuses an instance, so that the app can believe it while it has a lease.
 * @returns undefined when it cannot be signed: the answer is then a refusal without a proof
 */
export async function refusalFor(
  ports: Ports<'execute' | 'now' | 'randomBytes' | 'secrets' | 'signer'>,
  asking: SettingsRequest,
  refused: { keyHash: string; instanceId: string; reason: string },
  now: string,
): Promise<SignedRefusal | undefined> {
  const { client, origin, log } = asking
  const { tenantId, productId } = client
  try {
    const key = await activeKeyFor(ports, asking)
    return await signRefusal(ports.signer, key, { tenantId, productId, ...refused }, now)
  } catch (err) {
    log.error({ err, tenant: tenantId, request_id: origin.requestId }, 'refusal.signing_failed')
    return undefined
  }
}

function refuse(err: unknown, { client, origin, log }: SettingsRequest): never {
  if (!(err instanceof SigningFailed)) throw err
  log.error({ err, tenant: client.tenantId, request_id: origin.requestId }, 'lease.signing_failed')
  throw new Problem(500, 'internal', 'the tenant is not fully configured: its signing key cannot be used')
}
