import { countActiveDevices } from '../../projections/licenses/active-devices.ts'
import type { FoundInstance, InstanceQuestion } from '../../projections/licenses/instances.ts'
import type { LicenseEvent } from '../domain/license/events.ts'
import { decideLicense, type IssuedLicense, sameDevice } from '../domain/license/license.ts'
import { Refusal } from '../domain/refusal.ts'
import type { Plan } from '../domain/tenant/events.ts'
import { licenseStream } from '../ledger/streams.ts'
import { isPlanFull } from './devices.ts'
import { causeOf, momentOf, type Origin, type Services } from './services.ts'

type Instance = { installId: string | null; name: string; platform: string | null; plan: Plan }

/**
 * Seats an app on the license that was found for it. One that sits there already, by its former anonymous id or its
 * name, keeps its seat and its instance id.
 * @returns the instance id
 * @throws Refusal `license_revoked`, `license_expired`, `license_fallback`, `license_reminted`, `seat_limit_reached`,
 *   `plan_limit`
 */
export async function activateInstance(
  services: Services,
  found: FoundInstance,
  question: InstanceQuestion,
  { installId, name, platform, plan }: Instance,
  origin: Origin,
): Promise<string> {
  const planIsFull = await isPlanFull(plan, () => countActiveDevices(services.db, question.tenantId))
  const at = momentOf(services)
  const instance = { instanceId: services.newId('ins'), installId, name, platform }
  const { state } = await changeFound(services, found, question, origin, at, (license) => {
    const events = decideLicense(license, { type: 'ActivateInstance', ...instance, at })
    if (events.length > 0 && planIsFull) throw new Refusal('plan_limit')
    return events
  })
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
  await changeFound(services, found, question, origin, at, (license) =>
    decideLicense(license, { type: 'DeactivateDevice', deviceId, at }),
  )
}

/** Decides first on what the look-up has found, so that an activation reads the stores once. */
function changeFound(
  services: Services,
  found: FoundInstance,
  question: InstanceQuestion,
  origin: Origin,
  at: string,
  decide: (license: IssuedLicense) => LicenseEvent[],
) {
  return services.handle<IssuedLicense, 'license'>({
    stream: licenseStream(found.license.licenseId),
    loaded: { state: found.license, revision: found.revision },
    load: async () => {
      const again = await services.findInstance(question)
      // Reminted in between: the key that was shown is no longer this license's.
      if (again.found !== 'license') throw new Refusal('license_reminted')
      return { state: again.license, revision: again.revision }
    },
    decide,
    cause: causeOf(origin, at),
  })
}
