import type { ImportCommand } from '../../domain/licenses/imported.ts'
import type { Ports } from '../../ports.ts'
import type { SaidOfMachine } from '../../vault/device-hashing.ts'

/** A device of another system that keeps its seat. */
export type ForeignDevice = {
  deviceId: string
  name: string
  /** What its app says of the machine, in the form that it will send here; absent when the other system has nothing of it. */
  said?: SaidOfMachine | undefined
}

type ImportedLicense = { tenantId: string; licenseId: string; holder: { subjectId: string } | null }

/**
 * The devices of an imported license as they are recorded: their machines only as hashes under the key of its holder, or
 * of the tenant where it has none.
 */
export async function importedDevices(
  { deviceHashing, newId }: Ports<'deviceHashing' | 'newId'>,
  { tenantId, licenseId, holder }: ImportedLicense,
  devices: readonly ForeignDevice[],
): Promise<ImportCommand['devices']> {
  const license = { tenantId, licenseId, holder, deviceSubjects: [] }
  const said = devices.flatMap((device) => device.said ?? [])
  const identities = (await deviceHashing.identityOfEach(license, said)).values()
  return devices.map((device) => ({
    deviceId: device.deviceId,
    instanceId: newId('ins'),
    installId: null,
    name: device.name,
    platform: null,
    identity: device.said === undefined ? null : (identities.next().value ?? null),
  }))
}
