import { createHmac, hkdfSync, type KeyObject } from 'node:crypto'
import type { Pool } from 'pg'
import type { DeviceIdentity } from '../domain/licenses/marks.ts'
import type { MasterKey } from './master-key.ts'
import { makeTenantSubject, readKeys } from './subjects.ts'

/** What an app says of its machine: its own hashes, of the machine and of its components by their names. */
export type SaidOfMachine = { machineHash: string | null; components: Readonly<Record<string, string>> }

/** A license whose devices are hashed. */
type HashedLicense = {
  tenantId: string
  licenseId: string
  holder: { subjectId: string } | null
  deviceSubjects: readonly string[]
}

/** Recognizes devices by hashes from apps, without storing which machines they are. */
export type DeviceHashing = {
  /**
   * The identity of a device on a license, under each key that its seats may be hashed under: first that of its holder,
   * or of the tenant where there is no holder or the holder was erased. Licenses cannot compare their hashes.
   */
  identitiesOf(license: HashedLicense, said: SaidOfMachine): Promise<DeviceIdentity[]>
  /** The identities of many devices on a license, in the order given, each under the first of those keys alone. */
  identityOfEach(license: HashedLicense, said: readonly SaidOfMachine[]): Promise<DeviceIdentity[]>
}

export function createDeviceHashing(db: Pool, master: MasterKey): DeviceHashing {
  const keysOf = async ({ tenantId, holder, deviceSubjects }: HashedLicense) => {
    const subjects = [...new Set([...(holder ? [holder.subjectId] : []), ...deviceSubjects])]
    const keys = await readKeys(db, master, tenantId, subjects)
    if (!holder || !keys.has(holder.subjectId)) {
      const ofTenant = await makeTenantSubject(db, master, tenantId)
      subjects.unshift(ofTenant)
      for (const [subjectId, key] of await readKeys(db, master, tenantId, [ofTenant]))
        keys.set(subjectId, key)
    }
    return [...new Set(subjects)].flatMap((subjectId) => {
      const key = keys.get(subjectId)
      return key ? { subjectId, key } : []
    })
  }
  return {
    async identitiesOf(license, said) {
      const keys = await keysOf(license)
      return keys.map(({ subjectId, key }) => identityUnder(key, subjectId, license.licenseId, said))
    },
    async identityOfEach(license, said) {
      if (said.length === 0) return []
      const [first] = await keysOf(license)
      if (first === undefined) throw new Error(`the tenant ${license.tenantId} has a key`)
      return said.map((each) => identityUnder(first.key, first.subjectId, license.licenseId, each))
    },
  }
}

function identityUnder(
  subjectKey: KeyObject,
  subjectId: string,
  licenseId: string,
  { machineHash, components }: SaidOfMachine,
): DeviceIdentity {
  const key = Buffer.from(hkdfSync('sha256', subjectKey, '', 'keyledger device', 32))
  const hashed = (part: string, value: string) =>
    createHmac('sha256', key)
      .update(JSON.stringify([licenseId, part, value]))
      .digest('base64url')
      .slice(0, 22)
  return {
    subjectId,
    machine: machineHash === null ? null : hashed('machine', machineHash),
    components: Object.fromEntries(
      Object.entries(components).map(([name, value]) => [name, hashed(`component ${name}`, value)]),
    ),
  }
}
