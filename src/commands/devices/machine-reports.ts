import { hash } from 'node:crypto'
import { findSeat } from '../../../projections/licenses/seats.ts'
import { createDelayed } from '../../async/delayed.ts'
import { identified } from '../../domain/licenses/identity.ts'
import { licenses } from '../../domain/licenses/license.ts'
import type { Ports } from '../../ports.ts'
import type { SaidOfMachine } from '../../vault/device-hashing.ts'
import { stateOf } from '../licenses/licenses.ts'
import { causeOf, momentOf, type Origin } from '../origin.ts'

/** A device in a seat that has said what its machine is. */
type ReportedDevice = {
  tenantId: string
  licenseId: string
  instanceId: string
  said: SaidOfMachine
  origin: Origin
  /** Called when two machines with one hash were noticed in the seat. */
  onTwoPlaces: () => void
}

/**
 * Records what devices in a seat say of their machines when they validate. It is decided on shortly afterwards, so that a
 * validate waits for no write. What a killed process has not recorded, the device says again.
 */
export type MachineReports = {
  note(device: ReportedDevice): void
  /** Records all that was noted. */
  flush(): Promise<void>
  stop(): Promise<void>
}

type Recording = Ports<'db' | 'deviceHashing' | 'execute' | 'now'>

/** Devices that this process remembers, so that one that says the same again costs nothing. */
const maxRemembered = 20_000
/** Beyond these, a device is recorded when it says it again. */
const maxPending = 2000

export function createMachineReports(
  ports: Recording,
  onFailure: (error: unknown) => void,
  delayMs = 1000,
): MachineReports {
  const pending = new Map<string, ReportedDevice>()
  /** The digest of what each device said last; those that spoke longest ago are forgotten first. */
  const remembered = new Map<string, string>()

  async function work(): Promise<void> {
    for (const device of pending.values()) {
      pending.delete(device.instanceId)
      await record(ports, device).catch((error: unknown) => {
        remembered.delete(device.instanceId)
        onFailure(error)
      })
    }
  }

  const recording = createDelayed(delayMs, work)

  return {
    note(device) {
      const { instanceId, licenseId, said } = device
      const digest = hash('sha256', JSON.stringify([licenseId, said]), 'base64')
      const isKnown = remembered.get(instanceId) === digest
      if (!isKnown && pending.size >= maxPending) return
      remembered.delete(instanceId)
      remembered.set(instanceId, digest)
      const [oldest] = remembered.keys()
      if (remembered.size > maxRemembered && oldest !== undefined) remembered.delete(oldest)
      if (isKnown) return
      pending.set(instanceId, device)
      recording.ask()
    },
    flush: recording.now,
    async stop() {
      recording.cancel()
      await recording.now()
    },
  }
}

async function record(ports: Recording, device: ReportedDevice): Promise<void> {
  const { tenantId, licenseId, instanceId, said, origin, onTwoPlaces } = device
  const at = momentOf(ports)
  const find = async () => {
    const found = await findSeat(ports.db, tenantId, licenseId, { instanceId })
    return found ?? Promise.reject(new Error(`the license ${licenseId} is not in the read models`))
  }
  const found = await find()
  const { seat, license } = found
  if (seat?.status !== 'active') return
  const identities = await ports.deviceHashing.identitiesOf(license, said)
  const claim = { instanceId, installId: null, name: null, identities }
  if (identified(seat, claim, at).length === 0) return
  const command = { type: 'IdentifyDevice', deviceId: seat.deviceId, claim, at } as const
  const { events } = await ports.execute(licenses, licenseId, command, causeOf(origin, at), {
    loaded: stateOf(found),
    read: async () => stateOf(await find()),
  })
  if (events.some(({ type }) => type === 'DeviceInTwoPlaces')) onTwoPlaces()
}
