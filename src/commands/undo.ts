import { countActiveDevices } from '../../projections/licenses/active-devices.ts'
import type { LicenseEntry } from '../../projections/licenses/queries.ts'
import { findTenant } from '../../projections/tenants/queries.ts'
import type { LicenseEvent } from '../domain/license/events.ts'
import {
  absentLicense,
  decideLicense,
  evolveLicense,
  type IssuedLicense,
  type License,
} from '../domain/license/license.ts'
import { findKeyType } from '../domain/product/product.ts'
import { folding } from '../domain/recorded.ts'
import { Refusal } from '../domain/refusal.ts'
import type { Plan } from '../domain/tenant/events.ts'
import { loadFromLog } from '../ledger/load.ts'
import { licenseStream } from '../ledger/streams.ts'
import { isPlanFull } from './devices.ts'
import { usingKeyType } from './key-type-use.ts'
import { requireLicense } from './licenses.ts'
import { seating } from './plan-room.ts'
import { causeOf, momentOf, type Origin, type Services } from './services.ts'

/** What is made good: of which license, and for the device of which seat. */
export type Undo =
  | { type: 'reinstate'; reason: string | null }
  | { type: 'reseat'; deviceId: string }
  | { type: 'take back'; reason: string | null }

/** A license, and whether anything but its import has become of it. */
type Known = { license: License; importedAt: string | null; used: boolean }

const unknown: Known = { license: absentLicense, importedAt: null, used: false }

/**
 * Makes good what was done to a license, by a new event. As a run that begins again it changes nothing, whatever was done
 * to the license since.
 * @throws Refusal `license_not_found`, `license_key_type_gone`, `plan_limit`, and what `decideLicense` refuses
 */
export async function undo(
  services: Services,
  tenantId: string,
  licenseId: string,
  wanted: Undo,
  origin: Origin,
): Promise<LicenseEntry> {
  const { license } = await requireLicense(services, tenantId, licenseId)
  const at = momentOf(services)
  const stream = licenseStream(licenseId)
  const change = (decide: (known: Known) => LicenseEvent[], proof?: () => Promise<void>) =>
    services.handle<Known, 'license'>({
      stream,
      load: () => loadKnown(services, stream),
      decide,
      cause: causeOf(origin, at),
      run: origin.run,
      proof,
    })
  if (wanted.type === 'reinstate') {
    await usingKeyType(services, license, (proof) => change(reinstatement(wanted, true, at), proof)).catch(
      (error: unknown) => {
        if (!(error instanceof Refusal) || error.code !== 'key_type_not_found') throw error
        return change(reinstatement(wanted, false, at))
      },
    )
  } else if (wanted.type === 'reseat') {
    const plan = { tenantId, plan: await planOf(services, tenantId) }
    await seating(services, plan, (admit, proof) =>
      change((known) => admit(reseat(known, wanted, at)), proof),
    )
  } else {
    await change(takeBack(wanted, at))
  }
  return requireLicense(services, tenantId, licenseId)
}

/** The same decision, of which nothing is recorded. @throws Refusal as {@link undo} */
export async function refuseUndo(
  services: Services,
  tenantId: string,
  licenseId: string,
  wanted: Undo,
): Promise<void> {
  const { license } = await requireLicense(services, tenantId, licenseId)
  const decide = await decisionOn(services, license, wanted, momentOf(services))
  const { state } = await loadKnown(services, licenseStream(licenseId))
  decide(state)
}

const loadKnown = (services: Services, stream: string) =>
  loadFromLog(services.ledger, stream, unknown, folding('license', evolved))

function evolved({ license, importedAt, used }: Known, event: LicenseEvent): Known {
  const isImport = event.type === 'LicenseImported'
  const since = isImport ? event.data.at : importedAt
  return {
    license: evolveLicense(license, event),
    importedAt: since,
    // The devices that came with it were recorded at the same moment.
    used: used || (event.data.at !== since && !byItself.has(event.type)),
  }
}

/** What becomes of a license without anybody's using it. */
const byItself: ReadonlySet<LicenseEvent['type']> = new Set([
  'LicenseExpired',
  'LicenseFellBack',
  'HolderErased',
  'ImportTakenBack',
])

/** Looks up beforehand what a decision needs beside the license. */
async function decisionOn(
  services: Services,
  { tenantId, productId, keyTypeId }: IssuedLicense,
  wanted: Undo,
  at: string,
): Promise<(known: Known) => LicenseEvent[]> {
  switch (wanted.type) {
    case 'reinstate': {
      const product = await services.findProduct(tenantId, productId)
      const isThere = product !== undefined && findKeyType(product, keyTypeId) !== undefined
      return reinstatement(wanted, isThere, at)
    }
    case 'reseat': {
      const plan = await planOf(services, tenantId)
      const isFull = await isPlanFull(plan, () => countActiveDevices(services.db, tenantId))
      return (known) => {
        const events = reseat(known, wanted, at)
        if (events.length > 0 && isFull) throw new Refusal('plan_limit')
        return events
      }
    }
    case 'take back':
      return takeBack(wanted, at)
  }
}

/** A tenant that cannot be read is granted nothing that is limited. */
async function planOf(services: Services, tenantId: string): Promise<Plan> {
  return (await findTenant(services.db, tenantId))?.plan ?? 'free'
}

const reseat = (
  { license }: Known,
  { deviceId }: Extract<Undo, { type: 'reseat' }>,
  at: string,
): LicenseEvent[] => decideLicense(license, { type: 'ReseatDevice', deviceId, at })

const takeBack =
  ({ reason }: Extract<Undo, { type: 'take back' }>, at: string) =>
  ({ license, used }: Known): LicenseEvent[] =>
    decideLicense(license, { type: 'TakeBackImport', reason, used, at })

/** @param isThere whether the license's key type is; a key type is deleted only where no live license references it */
const reinstatement =
  ({ reason }: Extract<Undo, { type: 'reinstate' }>, isThere: boolean, at: string) =>
  ({ license }: Known): LicenseEvent[] => {
    const events = decideLicense(license, { type: 'UndoRevocation', reason, at })
    if (events.length > 0 && !isThere) throw new Refusal('license_key_type_gone')
    return events
  }
