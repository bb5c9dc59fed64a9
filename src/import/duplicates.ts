import { findImportMarks, findLicensesByKey } from '../../projections/licenses/keys.ts'
import { foreignKey } from '../credentials/license-key.ts'
import type { Ports } from '../ports.ts'
import type { Batch, Outcome, Planned } from './batches.ts'

/**
 * Tells licenses that an earlier run imported from those whose key belongs to another license.
 * @param licenseIds the license that has the key of each planned license
 */
export async function outcomesOfDuplicates(
  { db }: Ports<'db'>,
  { product }: Pick<Batch, 'product'>,
  licenseIds: ReadonlyMap<Planned, string>,
): Promise<Map<Planned, Outcome>> {
  if (licenseIds.size === 0) return new Map()
  const { tenantId, productId } = product
  const marks = await findImportMarks(db, tenantId, [...licenseIds.values()])
  return new Map(
    [...licenseIds].map(([planned, licenseId]) => {
      const mark = marks.get(licenseId)
      const isSame =
        mark?.productId === productId && mark.externalId === (planned.row.metadata?.externalId ?? null)
      const reason = `The license ${licenseId} already has its key.`
      return [planned, isSame ? { status: 'already_there' } : { status: 'left_out', reason }]
    }),
  )
}

/** The licenses that have the keys of these, as far as there are any. */
export async function holdersOf(
  { db, keyHashing }: Ports<'db' | 'keyHashing'>,
  { product }: Pick<Batch, 'product'>,
  licenses: readonly Planned[],
): Promise<Map<Planned, string>> {
  const hashToStore = await keyHashing.openStored(product.tenantId)
  const hashes = new Map<Planned, string[]>()
  for (const planned of licenses) {
    const key = foreignKey(planned.row.licenseKey)
    if (typeof key !== 'string') hashes.set(planned, [hashToStore(key), key.keyHash])
  }
  const found = await findLicensesByKey(db, product.tenantId, [...new Set([...hashes.values()].flat())])
  return new Map(
    [...hashes].flatMap(([planned, both]) => {
      const [licenseId] = both.flatMap((hash) => found.get(hash) ?? [])
      return licenseId === undefined ? [] : [[planned, licenseId] as const]
    }),
  )
}
