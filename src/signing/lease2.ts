import { unixSeconds } from '../domain/licenses/expiry.ts'
import type { SeatFile } from '../domain/licenses/seat-files.ts'
import type { SaidOfMachine } from '../vault/device-hashing.ts'
import type { Person } from '../vault/subjects.ts'
import { type LeaseFacts, leaseTimes } from './lease.ts'
import { signStatement, timeOf } from './paseto.ts'
import type { ActiveKey, Signer } from './signer.ts'

/** What a lease of the second version says more. */
export type Lease2Facts = LeaseFacts & {
  licenseId: string
  device: SaidOfMachine | undefined
  license: { updatesUntil: string | null }
  /** Whom it is licensed to; undefined where the product does not name them. */
  holder?: Person | undefined
  /** For a license file: its own id, times and serial, and the nonce of the request that it answers. */
  file?: Pick<SeatFile, 'fileId' | 'nonce' | 'serial' | 'issuedAt' | 'endsAt'> | undefined
  /** What the device may spend of a meter without a network. */
  allowance?: SignedAllowance | undefined
  /** Of the floating seat that a license file is for; null for another seat. */
  fence?: number | null
}

/** An amount of a meter that is kept for the instance of a lease. */
export type SignedAllowance = { allowanceId: string; meter: string; amount: string; endsAt: string }

/** How far the clock of a machine may be behind, so that a new lease is good there. */
export const clocksDifferS = 86_400

/**
 * Signs a lease as a `v4.public` token of PASETO.
 * @param now ISO 8601
 * @throws SigningFailed when the tenant's key cannot be used
 */
export const signLease2 = (
  signer: Signer,
  key: ActiveKey,
  facts: Lease2Facts,
  now: string,
): Promise<string> =>
  signStatement(signer, facts.tenantId, key, lease2Claims(facts, now), lease2Assertion(facts))

/** For whom a lease of the second version is: signed, but not sent. */
export const lease2Assertion = ({
  tenantId,
  productId,
}: Pick<LeaseFacts, 'tenantId' | 'productId'>): string => `keyledger:lease2:${tenantId}:${productId}`

/** What a lease of the second version says. @param now ISO 8601 */
export function lease2Claims(facts: Lease2Facts, now: string): object {
  const { device, file, allowance, fence = null } = facts
  const { issued, expires } = file
    ? { issued: unixSeconds(file.issuedAt), expires: unixSeconds(file.endsAt) }
    : leaseTimes(facts, now)
  return {
    iat: timeOf(issued),
    nbf: timeOf(issued - clocksDifferS),
    exp: timeOf(expires),
    serial: file?.serial ?? nextSerial(now),
    ...(file && { file: file.fileId, nonce: file.nonce, ...(fence !== null && { fence }) }),
    license_id: facts.licenseId,
    license_key_hash: facts.keyHash,
    instance_id: facts.instanceId,
    ...(device && { device: { machine_hash: device.machineHash, components: device.components } }),
    ...claimsOfLicense(facts),
    ...(allowance && { allowance: allowanceClaim(allowance) }),
  }
}

const allowanceClaim = ({ allowanceId, meter, amount, endsAt }: SignedAllowance) => ({
  ...{ id: allowanceId, meter, amount },
  ends_at: timeOf(unixSeconds(endsAt)),
})

/** What a statement says of its license. */
export const claimsOfLicense = ({
  license,
  holder,
  ...facts
}: Pick<Lease2Facts, 'status' | 'entitlements' | 'values' | 'holder'> & {
  license: { expiresAt: string | null; updatesUntil: string | null }
}) => ({
  status: facts.status,
  entitlements: {
    ...Object.fromEntries(facts.entitlements.toSorted().map((name) => [name, true])),
    ...facts.values,
  },
  license_expires_at: license.expiresAt === null ? null : timeOf(Date.parse(license.expiresAt) / 1000),
  ...(holder && { holder: { name: holder.name, email: holder.email } }),
  ...(license.updatesUntil !== null && { updates_until: timeOf(Date.parse(license.updatesUntil) / 1000) }),
})

let lastSerial = 0

/**
 * Rises with every statement of this process, and from process to process with the time: microseconds, counted on where
 * several fall into one millisecond or the clock is set back.
 */
function nextSerial(now: string): number {
  lastSerial = Math.max(lastSerial + 1, Date.parse(now) * 1000)
  return lastSerial
}
