import { countActiveDevices } from '../../projections/licenses/active-devices.ts'
import type { LicenseEntry } from '../../projections/licenses/queries.ts'
import { findTenant } from '../../projections/tenants/queries.ts'
import type { LicenseEvent } from '../domain/license/events.ts'
import { absentLicense, decideLicense, evolveLicense, type License } from '../domain/license/license.ts'
import { findKeyType } from '../domain/product/product.ts'
import { folding } from '../domain/recorded.ts'
import { Refusal } from '../domain/refusal.ts'
import { planLimits } from '../domain/tenant/tenant.ts'
import { loadFromLog } from '../ledger/load.ts'
import { licenseStream } from '../ledger/streams.ts'
import { requireLicense } from './licenses.ts'
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
 * Makes good what was done to a license, by a new event. Run again for the same cause it changes nothing, whatever was
 * done to the license since.
 * @throws Refusal `license_not_found`, `license_key_type_gone`, `plan_limit`, and what `decideLicense` refuses
 */
export async function undo(
  services: Services,
  tenantId: string,
  licenseId: string,
  wanted: Undo,
  origin: Origin,
): Promise<LicenseEntry> {
  const at = momentOf(services)
  const decide = await decisionOn(services, tenantId, licenseId, wanted, at)
  const stream = licenseStream(licenseId)
  await services.handle<Known, 'license'>({
    stream,
    load: () => loadKnown(services, stream),
    decide,
    cause: causeOf(origin, at),
    run: { resumed: true },
  })
  return requireLicense(services, tenantId, licenseId)
}

/** The same decision, of which nothing is recorded. @throws Refusal as {@link undo} */
export async function refuseUndo(
  services: Services,
  tenantId: string,
  licenseId: string,
  wanted: Undo,
): Promise<void> {
  const decide = await decisionOn(services, tenantId, licenseId, wanted, momentOf(services))
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
  tenantId: string,
  licenseId: string,
  wanted: Undo,
  at: string,
): Promise<(known: Known) => LicenseEvent[]> {
  const { license } = await requireLicense(services, tenantId, licenseId)
  switch (wanted.type) {
    case 'reinstate': {
      const product = await services.findProduct(tenantId, license.productId)
      const isThere = product !== undefined && findKeyType(product, license.keyTypeId) !== undefined
      return ({ license: known }) => {
        const events = decideLicense(known, { type: 'UndoRevocation', reason: wanted.reason, at })
        // A key type is deleted only where no live license references it.
        if (events.length > 0 && !isThere) throw new Refusal('license_key_type_gone')
        return events
      }
    }
    case 'reseat': {
      const tenant = await findTenant(services.db, tenantId)
      const most = tenant ? planLimits[tenant.plan].activeDevices : 0
      const isFull = Number.isFinite(most) && (await countActiveDevices(services.db, tenantId)) >= most
      return ({ license: known }) => {
        const events = decideLicense(known, { type: 'ReseatDevice', deviceId: wanted.deviceId, at })
        if (events.length > 0 && isFull) throw new Refusal('plan_limit')
        return events
      }
    }
    case 'take back':
      return ({ license: known, used }) =>
        decideLicense(known, { type: 'TakeBackImport', reason: wanted.reason, used, at })
  }
}
