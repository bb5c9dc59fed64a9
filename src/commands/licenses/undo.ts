import { countSeatedDevices } from '../../../projections/licenses/active-devices.ts'
import type { LicenseEntry } from '../../../projections/licenses/queries.ts'
import type { IssuedLicense } from '../../domain/licenses/license.ts'
import { type ReverseCommand, undoableLicenses } from '../../domain/licenses/undoable.ts'
import { findKeyType } from '../../domain/products/product.ts'
import { Refusal } from '../../domain/refusal.ts'
import { loadFromLog } from '../../ledger/execute.ts'
import type { Ports } from '../../ports.ts'
import { usingKeyType } from '../cross-stream/key-type-use.ts'
import { type Admit, type Proof, planOf, seating } from '../cross-stream/plan-capacity.ts'
import { isPlanFull } from '../devices/devices.ts'
import { causeOf, momentOf, type Origin } from '../origin.ts'
import { requireLicense } from './licenses.ts'

/** What is undone: which change of a license, and for `ReseatDevice` which device. */
export type Undo =
  | { type: 'reinstate'; reason: string | null }
  | { type: 'reseat'; deviceId: string }
  | { type: 'take back'; reason: string | null }

/**
 * Undoes a change of a license by a new event. A repeated run changes nothing, even if the license was
 * changed since.
 * @throws Refusal `license_not_found`, `license_key_type_gone`, `plan_limit`, and what `decideLicense`
 *   refuses
 */
export async function undo(
  ports: Ports<'db' | 'execute' | 'keyTypes' | 'now' | 'planCapacity'>,
  tenantId: string,
  licenseId: string,
  wanted: Undo,
  origin: Origin,
): Promise<LicenseEntry> {
  const { license } = await requireLicense(ports, tenantId, licenseId)
  const at = momentOf(ports)
  const change = (options: { admit?: Admit; proof?: Proof | undefined }, keyTypeIsThere = true) =>
    ports.execute(undoableLicenses, licenseId, commandOf(wanted, keyTypeIsThere, at), causeOf(origin, at), {
      ...options,
      run: origin.run,
    })
  if (wanted.type === 'reinstate') {
    await usingKeyType(ports, license, (proof) => change({ proof })).catch((error: unknown) => {
      if (!(error instanceof Refusal) || error.code !== 'key_type_not_found') throw error
      return change({}, false)
    })
  } else if (wanted.type === 'reseat') {
    const plan = { tenantId, plan: await planOf(ports.db, tenantId) }
    await seating(ports, plan, (admit, proof) => change({ admit, proof }))
  } else {
    await change({})
  }
  return requireLicense(ports, tenantId, licenseId)
}

/** The same decision without recording anything. @throws Refusal as {@link undo} */
export async function refuseUndo(
  ports: Ports<'db' | 'findProduct' | 'ledger' | 'now'>,
  tenantId: string,
  licenseId: string,
  wanted: Undo,
): Promise<void> {
  const { license } = await requireLicense(ports, tenantId, licenseId)
  const at = momentOf(ports)
  const { state } = await loadFromLog(ports.ledger, licenseId, undoableLicenses)
  const keyTypeIsThere = wanted.type !== 'reinstate' || (await hasKeyType(ports, license))
  const events = undoableLicenses.decide(state, commandOf(wanted, keyTypeIsThere, at))
  if (wanted.type !== 'reseat' || events.length === 0) return
  const plan = await planOf(ports.db, tenantId)
  if (await isPlanFull(plan, () => countSeatedDevices(ports.db, tenantId))) throw new Refusal('plan_limit')
}

function commandOf(wanted: Undo, keyTypeIsThere: boolean, at: string): ReverseCommand {
  switch (wanted.type) {
    case 'reinstate':
      return { type: 'UndoRevocation', reason: wanted.reason, keyTypeIsThere, at }
    case 'reseat':
      return { type: 'ReseatDevice', deviceId: wanted.deviceId, at }
    case 'take back':
      return { type: 'TakeBackImport', reason: wanted.reason, at }
  }
}

/** A key type can be deleted only if no live license references it. */
async function hasKeyType(
  ports: Ports<'findProduct'>,
  { tenantId, productId, keyTypeId }: IssuedLicense,
): Promise<boolean> {
  const product = await ports.findProduct(tenantId, productId)
  return product !== undefined && findKeyType(product, keyTypeId) !== undefined
}
