import type { FoundInstance, InstanceLookupParams } from '../../../projections/licenses/instances.ts'
import { type LicenseCommand, licenses } from '../../domain/licenses/license.ts'
import { sameDevice } from '../../domain/licenses/seats.ts'
import { Refusal } from '../../domain/refusal.ts'
import type { Plan } from '../../domain/tenants/events.ts'
import type { Ports } from '../../ports.ts'
import { type Admit, seating } from '../cross-stream/plan-capacity.ts'
import { stateOf } from '../licenses/licenses.ts'
import { causeOf, momentOf, type Origin } from '../origin.ts'

type Instance = { installId: string | null; name: string; platform: string | null; plan: Plan }

/**
 * Gives an app a seat on the license that was found for it. An app that has one, known by its former
 * anonymous id or its name, keeps its seat and its instance id.
 * @returns the instance id
 * @throws Refusal `license_revoked`, `license_expired`, `license_reminted`, `seat_limit_reached`,
 *   `plan_limit`
 */
export async function activateInstance(
  ports: Ports<'execute' | 'findInstance' | 'newId' | 'now' | 'planCapacity'>,
  found: FoundInstance,
  question: InstanceLookupParams,
  { installId, name, platform, plan }: Instance,
  origin: Origin,
): Promise<string> {
  const at = momentOf(ports)
  const instance = { instanceId: ports.newId('ins'), installId, name, platform }
  const { tenantId } = question
  const { before } = await seating(ports, { tenantId, plan }, (admit, proof, isAgain) =>
    changeFound(
      ports,
      { found, question, origin, at, admit, proof, isStale: isAgain },
      { type: 'ActivateInstance', ...instance, at },
    ),
  )
  const seats = before.status === 'issued' ? before.seats.values() : []
  return sameDevice(seats, instance)?.instanceId ?? instance.instanceId
}

/** Frees the seat of the instance that was found; without an active seat nothing changes. */
export async function deactivateInstance(
  ports: Ports<'execute' | 'findInstance' | 'now'>,
  found: FoundInstance & { seat: NonNullable<FoundInstance['seat']> },
  question: InstanceLookupParams,
  origin: Origin,
): Promise<void> {
  const at = momentOf(ports)
  const { deviceId } = found.seat
  const change = { found, question, origin, at }
  await changeFound(ports, change, { type: 'DeactivateDevice', deviceId, at })
}

type Change = {
  found: FoundInstance
  question: InstanceLookupParams
  origin: Origin
  at: string
  admit?: Admit
  proof?: (() => Promise<void>) | undefined
  /** Whether the license that was found may be outdated. */
  isStale?: boolean
}

/** Decides first on the license that was found, so that an activation reads the stores once. */
function changeFound(
  ports: Ports<'execute' | 'findInstance'>,
  { found, question, origin, at, admit, proof, isStale = false }: Change,
  command: LicenseCommand,
) {
  return ports.execute(licenses, found.license.licenseId, command, causeOf(origin, at), {
    loaded: isStale ? undefined : stateOf(found),
    read: async () => {
      const again = await ports.findInstance(question)
      // The license was reminted meanwhile: the key of the request is no longer valid.
      if (again.kind !== 'license') throw new Refusal('license_reminted')
      return stateOf(again)
    },
    admit,
    proof,
  })
}
