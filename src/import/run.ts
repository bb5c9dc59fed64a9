import { setTimeout as sleep } from 'node:timers/promises'
import { findImportMarks, findLicensesByKey } from '../../projections/licenses/keys.ts'
import type { PresentProduct } from '../../projections/products/queries.ts'
import { ReadModelsBehind } from '../../projections/runner/read-models.ts'
import { waitOnce } from '../commands/cross-stream/read-models.ts'
import type { ImportPorts } from '../commands/licenses/import.ts'
import { type Imported, importLicenses, type Previewed, previewImport } from '../commands/licenses/import.ts'
import type { Origin } from '../commands/origin.ts'
import { addKeyType } from '../commands/products.ts'
import { foreignKey } from '../credentials/license-key.ts'
import { Refusal, type RefusalCode } from '../domain/refusal.ts'
import type { Plan } from '../domain/tenants/events.ts'
import { problemOfRefusal } from '../http/problem.ts'
import { LedgerFrozen, LedgerUnavailable } from '../ledger/connection/unavailable.ts'
import type { Ports } from '../ports.ts'
import type { Accounts, Batch, Outcome, Planned } from './batches.ts'
import { type Target, withNewKeyTypes } from './plan/targets.ts'

/** While one batch waits for the read models, the next one is appended. */
const batchesAtOnce = 2
const attempts = 6

type ImportServices = ImportPorts & Ports<'untilVisible'>

/** Creates the key types that the import needs. A second run finds them. @throws Refusal `product_not_found` */
export async function createKeyTypes(
  ports: Ports<'execute' | 'findProduct' | 'now'>,
  target: Target,
  origin: Origin,
): Promise<PresentProduct> {
  const { tenantId, productId } = target.product
  let product = target.product
  const wanted = withNewKeyTypes(target).keyTypes.slice(product.keyTypes.length)
  for (const keyType of wanted) product = await addKeyType(ports, tenantId, productId, keyType, origin)
  return product
}

/**
 * Imports batches. It can be killed at any time: each license is one append to a stream whose id derives from its key,
 * so running the import again imports those that are missing and finds the others.
 * @param onBatch called with the number of licenses of each finished batch
 * @throws LedgerUnavailable, LedgerFrozen, ReadModelsBehind when the stores do not recover
 */
export async function runImport(
  ports: ImportServices,
  batches: AsyncIterable<Batch>,
  { plan, accounts, onBatch }: { plan: Plan; accounts: Accounts; onBatch: (licenses: number) => void },
  origin: Origin,
): Promise<void> {
  await forEachBatch(batches, async (batch) => {
    const outcomes = await withRetries((isAgain) => {
      // What the attempt before recorded counts as imported, not as imported before.
      const own = isAgain ? { ...origin, run: { resumed: true } } : origin
      return importBatch(ports, batch, plan, own)
    })
    for (const [planned, outcome] of outcomes) accounts.settled(planned, outcome)
    onBatch(batch.licenses.length)
  })
}

/** What {@link runImport} would do, without doing it. A plan's limit is not foreseen. */
export async function previewBatches(
  ports: Ports<'db' | 'deriveId' | 'keyHashing' | 'now'>,
  batches: AsyncIterable<Batch>,
  {
    targets,
    accounts,
    onBatch,
  }: { targets: readonly Target[]; accounts: Accounts; onBatch: (licenses: number) => void },
): Promise<void> {
  const complete = new Map(targets.map((target) => [target.product.productId, withNewKeyTypes(target)]))
  for await (const batch of batches) {
    const product = complete.get(batch.product.productId) ?? batch.product
    const found = await previewImport(
      ports,
      product,
      batch.licenses.map(({ row }) => row),
    )
    const duplicates = batch.licenses.filter((_, index) => found[index] === 'duplicate')
    const holders = await holdersOf(ports, batch, duplicates)
    const known = await outcomesOfDuplicates(ports, batch, holders)
    for (const [index, planned] of batch.licenses.entries()) {
      accounts.settled(planned, known.get(planned) ?? previewed(batch, found[index]))
    }
    onBatch(batch.licenses.length)
  }
}

function previewed({ licenses }: Batch, found: Previewed | undefined): Outcome {
  if (typeof found === 'object') return leftOut(found.refusal)
  if (typeof found !== 'number') return { status: 'imported' }
  return {
    status: 'left_out',
    reason: `The same key as in ${licenses[found]?.license.from ?? 'another line'}.`,
  }
}

const leftOut = (refusal: RefusalCode): Outcome => ({
  status: 'left_out',
  reason: problemOfRefusal(refusal).message,
})

async function importBatch(
  ports: ImportServices,
  batch: Batch,
  plan: Plan,
  origin: Origin,
): Promise<Map<Planned, Outcome>> {
  const { product, licenses } = batch
  const rows = licenses.map(({ row }) => row)
  const imported = await waitOnce(ports, (own) => importLicenses(own, product, { rows, plan }, origin)).catch(
    (error: unknown) => {
      if (error instanceof Refusal && error.code === 'plan_limit') return undefined
      throw error
    },
  )
  const holders = imported ? duplicatesIn(licenses, imported) : await holdersOf(ports, batch, licenses)
  const known = await outcomesOfDuplicates(ports, batch, holders)
  return new Map(
    licenses.map((planned, index) => [planned, known.get(planned) ?? outcomeOf(imported?.[index])]),
  )
}

function duplicatesIn(licenses: readonly Planned[], imported: readonly Imported[]): Map<Planned, string> {
  return new Map(
    licenses.flatMap((planned, index) => {
      const outcome = imported[index]
      return outcome?.status === 'duplicate' ? [[planned, outcome.licenseId] as const] : []
    }),
  )
}

/** Without an answer, the plan had no capacity for any license of the batch. */
function outcomeOf(imported: Imported | undefined): Outcome {
  if (imported === undefined) return leftOut('plan_limit')
  return imported.status === 'invalid' ? leftOut(imported.refusal) : { status: 'imported' }
}

/** Repeating a batch is harmless, so a store that is gone for a moment does not end a long import. */
export async function withRetries<T>(work: (isAgain: boolean) => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work(attempt > 1)
    } catch (error) {
      const isPassing = error instanceof LedgerUnavailable || error instanceof ReadModelsBehind
      if (!isPassing || error instanceof LedgerFrozen || attempt === attempts) throw error
      await sleep(Math.min(10_000, 250 * 2 ** attempt))
    }
  }
}

/** Works on a few batches at a time. After a failure no further batch is begun; it is thrown once the others ended. */
async function forEachBatch(
  batches: AsyncIterable<Batch>,
  work: (batch: Batch) => Promise<void>,
): Promise<void> {
  const running = new Set<Promise<void>>()
  const failures: unknown[] = []
  for await (const batch of batches) {
    const task = work(batch)
      .catch((error: unknown) => void failures.push(error))
      .finally(() => running.delete(task))
    running.add(task)
    if (running.size >= batchesAtOnce) await Promise.race(running)
    if (failures.length > 0) break
  }
  await Promise.all(running)
  if (failures.length > 0) throw failures[0]
}

/**
 * Tells licenses that an earlier run imported from those whose key belongs to another license.
 * @param licenseIds the license that has the key of each planned license
 */
async function outcomesOfDuplicates(
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
async function holdersOf(
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
