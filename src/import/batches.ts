import type { PresentProduct } from '../../projections/products/queries.ts'
import type { ForeignLicense as ImportRow } from '../commands/licenses/import.ts'
import type { ForeignLicense, SourceName, Unusable } from './foreign.ts'
import { rowOf } from './plan/row.ts'
import type { Targets } from './plan/targets.ts'
import type { Report } from './report.ts'
import { createReasons, type Tally } from './tally.ts'

/** A license with the row by which it is imported. */
export type Planned = { license: ForeignLicense; row: ImportRow; leftOut: readonly string[] }
export type Batch = { product: PresentProduct; licenses: Planned[] }

export type Outcome = { status: 'imported' | 'already_there' } | { status: 'left_out'; reason: string }

/** Enough that waiting for the read models once a batch costs little for each license. */
const batchSize = 1000

/** Collects what becomes of each license, for the tally and the report. */
export type Accounts = ReturnType<typeof createAccounts>

export function createAccounts(report: Report) {
  const reasons = createReasons()
  const notes = createReasons()
  const counts = { licenses: 0, imported: 0, alreadyThere: 0, leftOut: 0, otherProducts: 0, devices: 0 }
  const byStatus: Record<string, number> = {}
  const leftOut = (license: Pick<Unusable, 'from' | 'externalId' | 'licenseKey'>, reason: string) => {
    const { from, externalId, licenseKey } = license
    counts.leftOut++
    reasons.add(reason, from)
    report.add({ from, externalId, licenseKey, outcome: 'left_out', reason })
  }
  return {
    read: () => void counts.licenses++,
    otherProduct: () => void counts.otherProducts++,
    leftOut,
    settled({ license, row, leftOut: sentences }: Planned, outcome: Outcome) {
      if (outcome.status === 'left_out') return leftOut(license, outcome.reason)
      if (outcome.status === 'already_there') counts.alreadyThere++
      else {
        counts.imported++
        counts.devices += row.devices?.length ?? 0
        byStatus[license.status] = (byStatus[license.status] ?? 0) + 1
      }
      const { from, externalId, licenseKey } = license
      for (const reason of sentences) {
        notes.add(reason, from)
        report.add({ from, externalId, licenseKey, outcome: 'taken_in_part', reason })
      }
    },
    tally: (): Tally => ({ ...counts, byStatus, reasons: reasons.all(), notes: notes.all() }),
  }
}

/** Divides the licenses of an export into batches of one product. Licenses without a row are settled at once. */
export async function* batchesOf(
  licenses: AsyncIterable<ForeignLicense | Unusable>,
  { targets, source, accounts }: { targets: Targets; source: SourceName; accounts: Accounts },
): AsyncIterable<Batch> {
  const open = new Map<string, Batch>()
  for await (const license of licenses) {
    accounts.read()
    if ('problem' in license) {
      accounts.leftOut(license, license.problem)
      continue
    }
    const target = targets.of(license)
    if (!target) {
      accounts.otherProduct()
      continue
    }
    const { product, choice } = target
    const planned = rowOf(license, choice.keyType, source)
    if ('problem' in planned) {
      accounts.leftOut(license, planned.problem)
      continue
    }
    const batch = open.get(product.productId) ?? { product, licenses: [] }
    open.set(product.productId, batch)
    batch.licenses.push({ license, ...planned })
    if (batch.licenses.length < batchSize) continue
    open.delete(product.productId)
    yield batch
  }
  yield* open.values()
}
