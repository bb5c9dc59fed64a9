import { countActiveDevices } from '../../projections/licenses/active-devices.ts'
import type { RuntimeFinding, RuntimeQuestion } from '../../projections/licenses/runtime.ts'
import type { LicenseEvent } from '../domain/license/events.ts'
import { decideLicense, type License, type LicenseCommand } from '../domain/license/license.ts'
import { Refusal } from '../domain/refusal.ts'
import type { Plan } from '../domain/tenant/events.ts'
import { planLimits } from '../domain/tenant/tenant.ts'
import { licenseStream } from '../ledger/streams.ts'
import { causeOf, momentOf, type Origin, type Services } from './services.ts'

export type FoundLicense = Extract<RuntimeFinding, { found: 'license' }>

/**
 * Seats a device on the license that was found for it; a device that already sits there keeps its seat.
 * @throws Refusal `license_revoked`, `license_expired`, `license_fallback`, `seat_limit_reached`, `plan_limit`
 */
export async function activateDevice(
  services: Services,
  found: FoundLicense,
  question: RuntimeQuestion,
  device: { name: string; plan: Plan },
  origin: Origin,
): Promise<void> {
  const { db } = services
  const planIsFull = await isPlanFull(device.plan, () => countActiveDevices(db, question.tenantId))
  const at = momentOf(services)
  const { deviceId } = question
  const seat = {
    deviceId,
    instanceId: services.newId('ins'),
    installId: null,
    name: device.name,
    platform: null,
  }
  await changeFound(services, found, question, origin, at, (license) =>
    decideActivation(license, { ...seat, at }, planIsFull),
  )
}

/** Whether a plan allows no more active devices; they are counted only where there is an end to them. */
export async function isPlanFull(plan: Plan, count: () => Promise<number>): Promise<boolean> {
  const most = planLimits[plan].activeDevices
  return Number.isFinite(most) && (await count()) >= most
}

/**
 * What an activation comes to. A device that already sits there takes nothing of the plan.
 * @throws Refusal as {@link activateDevice}
 */
export function decideActivation(
  license: License,
  seat: Omit<Extract<LicenseCommand, { type: 'ActivateDevice' }>, 'type'>,
  planIsFull: boolean,
): LicenseEvent[] {
  const events = decideLicense(license, { type: 'ActivateDevice', ...seat })
  if (events.length > 0 && planIsFull) throw new Refusal('plan_limit')
  return events
}

/** Frees the device's seat; without an active seat nothing happens. */
export async function deactivateDevice(
  services: Services,
  found: FoundLicense,
  question: RuntimeQuestion,
  origin: Origin,
): Promise<void> {
  const at = momentOf(services)
  const { deviceId } = question
  await changeFound(services, found, question, origin, at, (license) =>
    decideLicense(license, { type: 'DeactivateDevice', deviceId, at }),
  )
}

/** Decides first on what the look-up has found, so that an activation reads the stores once. */
async function changeFound(
  services: Services,
  found: FoundLicense,
  question: RuntimeQuestion,
  origin: Origin,
  at: string,
  decide: (license: License) => LicenseEvent[],
): Promise<void> {
  await services.handle<License, 'license'>({
    stream: licenseStream(found.license.licenseId),
    loaded: { state: found.license, revision: found.revision },
    load: async () => {
      const again = await services.findForRuntime(question)
      // Reminted in between: the key that was shown is no longer this license's.
      if (again.found !== 'license') throw new Refusal('license_reminted')
      return { state: again.license, revision: again.revision }
    },
    decide,
    cause: causeOf(origin, at),
    run: origin.run,
  })
}
