import type { FoundInstance, InstanceQuestion } from '../../projections/licenses/instances.ts'
import type { LicenseEvent } from '../domain/license/events.ts'
import { decideLicense, type IssuedLicense, sameDevice } from '../domain/license/license.ts'
import { Refusal } from '../domain/refusal.ts'
import type { Plan } from '../domain/tenant/events.ts'
import { licenseStream } from '../ledger/streams.ts'
import { seating } from './plan-room.ts'
import { causeOf, momentOf, type Origin, type Services } from './services.ts'

type Instance = { installId: string | null; name: string; platform: string | null; plan: Plan }

/**
 * Seats an app on the license that was found for it. One that sits there already, by its former anonymous id or its
 * name, keeps its seat and its instance id.
 * @returns the instance id
 * @throws Refusal `license_revoked`, `license_expired`, `license_reminted`, `seat_limit_reached`, `plan_limit`
 */
export async function activateInstance(
  services: Services,
  found: FoundInstance,
  question: InstanceQuestion,
  { installId, name, platform, plan }: Instance,
  origin: Origin,
): Promise<string> {
  const at = momentOf(services)
  const instance = { instanceId: services.newId('ins'), installId, name, platform }
  const { tenantId } = question
  const { state } = await seating(services, { tenantId, plan }, (admit, proof, isAgain) =>
    changeFound(services, { found, question, origin, at, proof, isStale: isAgain }, (license) =>
      admit(decideLicense(license, { type: 'ActivateInstance', ...instance, at })),
    ),
  )
  return sameDevice(state.seats.values(), instance)?.instanceId ?? instance.instanceId
}

/** Frees the seat of the instance that was found; without an active seat nothing happens. */
export async function deactivateInstance(
  services: Services,
  found: FoundInstance & { seat: NonNullable<FoundInstance['seat']> },
  question: InstanceQuestion,
  origin: Origin,
): Promise<void> {
  const at = momentOf(services)
  const { deviceId } = found.seat
  await changeFound(services, { found, question, origin, at }, (license) =>
    decideLicense(license, { type: 'DeactivateDevice', deviceId, at }),
  )
}

type Change = {
  found: FoundInstance
  question: InstanceQuestion
  origin: Origin
  at: string
  proof?: (() => Promise<void>) | undefined
  /** Some time has passed since it was found. */
  isStale?: boolean
}

/** Decides first on what the look-up has found, so that an activation reads the stores once. */
function changeFound(
  services: Services,
  { found, question, origin, at, proof, isStale = false }: Change,
  decide: (license: IssuedLicense) => LicenseEvent[],
) {
  return services.handle<IssuedLicense, 'license'>({
    stream: licenseStream(found.license.licenseId),
    loaded: isStale ? undefined : { state: found.license, revision: found.revision },
    load: async () => {
      const again = await services.findInstance(question)
      // Reminted in between: the key that was shown is no longer this license's.
      if (again.found !== 'license') throw new Refusal('license_reminted')
      return { state: again.license, revision: again.revision }
    },
    decide,
    cause: causeOf(origin, at),
    proof,
  })
}
