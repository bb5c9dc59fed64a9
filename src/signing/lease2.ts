import type { SaidOfMachine } from '../vault/device-hashing.ts'
import { type LeaseFacts, leaseTimes } from './lease.ts'
import { bytesToSign, tokenOf } from './paseto.ts'
import type { ActiveKey, Signer } from './signer.ts'

/** What a lease of the second version says more. */
export type Lease2Facts = LeaseFacts & { licenseId: string; device: SaidOfMachine | undefined }

/** How far the clock of a machine may be behind, so that a new lease is good there. */
const clocksDifferS = 86_400

/**
 * Signs a lease as a `v4.public` token of PASETO.
 * @param now ISO 8601
 * @throws SigningFailed when the tenant's key cannot be used
 */
export async function signLease2(
  signer: Signer,
  key: ActiveKey,
  facts: Lease2Facts,
  now: string,
): Promise<string> {
  const { tenantId, productId, license, device } = facts
  const { issued, expires } = leaseTimes(facts, now)
  const claims = {
    iat: timeOf(issued),
    nbf: timeOf(issued - clocksDifferS),
    exp: timeOf(expires),
    serial: nextSerial(now),
    license_id: facts.licenseId,
    license_key_hash: facts.keyHash,
    instance_id: facts.instanceId,
    ...(device && { device: { machine_hash: device.machineHash, components: device.components } }),
    status: facts.status,
    entitlements: {
      ...Object.fromEntries(facts.entitlements.toSorted().map((name) => [name, true])),
      ...facts.values,
    },
    license_expires_at: license.expiresAt === null ? null : timeOf(Date.parse(license.expiresAt) / 1000),
  }
  const message = JSON.stringify(claims)
  const footer = JSON.stringify({ kid: key.kid })
  const assertion = `keyledger:lease2:${tenantId}:${productId}`
  const signature = await signer.sign(tenantId, key, bytesToSign(message, footer, assertion))
  return tokenOf(message, footer, signature)
}

/** RFC 3339 in whole seconds, as the registered claims of PASETO have it. */
const timeOf = (seconds: number): string =>
  new Date(Math.floor(seconds) * 1000).toISOString().replace('.000Z', 'Z')

let lastSerial = 0

/**
 * Rises with every statement of this process, and from process to process with the time: microseconds, counted on where
 * several fall into one millisecond or the clock is set back.
 */
function nextSerial(now: string): number {
  lastSerial = Math.max(lastSerial + 1, Date.parse(now) * 1000)
  return lastSerial
}
