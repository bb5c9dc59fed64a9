import type { RuntimeLookupParams, RuntimeLookupResult } from '../../../projections/licenses/runtime.ts'
import { sha256 } from '../../credentials/sha256.ts'
import {
  type IssuedLicense,
  type License,
  type LicenseCommand,
  licenses,
} from '../../domain/licenses/license.ts'
import { Refusal } from '../../domain/refusal.ts'
import type { Plan } from '../../domain/tenants/events.ts'
import { planLimits } from '../../domain/tenants/tenant.ts'
import type { Ports } from '../../ports.ts'
import { type Admit, seating } from '../cross-stream/plan-capacity.ts'
import { stateOf } from '../licenses/licenses.ts'
import { causeOf, momentOf, type Origin } from '../origin.ts'
import { type FloatingSeat, type Taking, takeSeat } from './floating.ts'

export type FoundLicense = Extract<RuntimeLookupResult, { kind: 'license' }>

type Device = { name: string; plan: Plan; builtAt: string | null }

/**
 * Gives a device a seat on the license that was found for it, as {@link takeSeat} does; a device that has a seat keeps it.
 * @returns the license with it: its first activation may have started its term
 * @throws Refusal `license_revoked`, `license_expired`, `build_not_covered`, `seat_limit_reached`, `plan_limit`, `seat_lost`,
 *   `assigned_to_another`
 */
export function activateDevice(
  ports: Ports<'db' | 'execute' | 'findForRuntime' | 'newId' | 'now' | 'planCapacity' | 'seatEnds'>,
  found: FoundLicense,
  question: RuntimeLookupParams,
  device: Device,
  origin: Origin,
): Promise<{ license: IssuedLicense; floating: FloatingSeat | undefined }> {
  const { deviceId } = question
  return takeSeat(
    ports,
    found,
    { waiter: sha256(deviceId), origin },
    (taking) => seatDevice(ports, found, question, { ...device, ...taking }, origin),
    ({ license }) => license.seats.get(deviceId),
  )
}

async function seatDevice(
  ports: Ports<'execute' | 'findForRuntime' | 'newId' | 'now' | 'planCapacity'>,
  found: FoundLicense,
  question: RuntimeLookupParams,
  device: Device & Taking,
  origin: Origin,
): Promise<{ license: IssuedLicense }> {
  const at = momentOf(ports)
  const { deviceId } = question
  const { builtAt, ranOut, isStale } = device
  const asked = { ...question, others: ranOut.map((seat) => seat.deviceId) }
  const seat = {
    deviceId,
    instanceId: ports.newId('ins'),
    installId: null,
    name: device.name,
    platform: null,
    personId: found.personId,
  }
  const plan = { tenantId: question.tenantId, plan: device.plan }
  const { state } = await seating(ports, plan, (admit, proof, isAgain) =>
    changeFound(
      ports,
      { found, question: asked, origin, at, admit, proof, isStale: isStale || isAgain },
      { type: 'ActivateDevice', ...seat, builtAt, ranOut, tell: found.deviceMails, at },
    ),
  )
  return { license: requireIssued(state) }
}

/** @throws Error for a license that is not there, which cannot be after a change of it */
export function requireIssued(license: License): IssuedLicense {
  if (license.status === 'absent') throw new Error('a license that was activated is there')
  return license
}

/** Whether a plan allows no more active devices; they are counted only if the plan has a limit. */
export async function isPlanFull(plan: Plan, count: () => Promise<number>): Promise<boolean> {
  const most = planLimits[plan].activeDevices
  return Number.isFinite(most) && (await count()) >= most
}

/**
 * Frees the device's seat; without an active seat nothing changes.
 * @param fence of the floating seat that is meant; null for whichever the device has
 * @throws Refusal `seat_lost` for a fence that is not the seat's, `assigned_to_another` for the seat of another person
 */
export async function deactivateDevice(
  ports: Ports<'execute' | 'findForRuntime' | 'now'>,
  found: FoundLicense,
  question: RuntimeLookupParams,
  fence: number | null,
  origin: Origin,
): Promise<void> {
  const at = momentOf(ports)
  const { deviceId } = question
  const change = { found, question, origin, at }
  const { personId } = found
  await changeFound(ports, change, { type: 'DeactivateDevice', deviceId, fence, personId, at })
}

type Change = {
  found: FoundLicense
  question: RuntimeLookupParams
  origin: Origin
  at: string
  admit?: Admit
  proof?: (() => Promise<void>) | undefined
  /** Whether the license that was found may be outdated. */
  isStale?: boolean
}

/** Decides first on the license that was found, so that an activation reads the stores once. */
function changeFound(
  ports: Ports<'execute' | 'findForRuntime'>,
  { found, question, origin, at, admit, proof, isStale = false }: Change,
  command: LicenseCommand,
) {
  return ports.execute(licenses, found.license.licenseId, command, causeOf(origin, at), {
    loaded: isStale ? undefined : stateOf(found),
    read: async () => {
      const again = await ports.findForRuntime(question)
      // The license was reminted meanwhile: the key of the request is no longer valid.
      if (again.kind !== 'license') throw new Refusal('license_reminted')
      return stateOf(again)
    },
    run: origin.run,
    admit,
    proof,
  })
}
