import type { PresentProduct } from '../../projections/products/queries.ts'
import { findSale, listParkedLike } from '../../projections/sales/queries.ts'
import { findTenant } from '../../projections/tenants.ts'
import { waitOnce } from '../commands/cross-stream/read-models.ts'
import { mapItem } from '../commands/integrations/integrations.ts'
import type { Origin } from '../commands/origin.ts'
import { changeSale, loadSale } from '../commands/sales.ts'
import type { KeyType } from '../domain/products/key-type.ts'
import { findKeyType } from '../domain/products/product.ts'
import { Refusal } from '../domain/refusal.ts'
import type { ParkedReason } from '../domain/sales/events.ts'
import type { KnownSale, SaleCommand } from '../domain/sales/sale.ts'
import type { Loaded } from '../ledger/execute.ts'
import type { Ports } from '../ports.ts'
import { type AdvancePorts, advanceSale, advanceToOutcome } from './advance.ts'
import { mapAgain, resolutionAs, resolveKnown } from './mapping.ts'

/** What releases a parked sale: its steps, and one wait for the read models at the end. */
export type ReplayPorts = AdvancePorts & Ports<'untilVisible'>

/** Sales that are replayed by one call; further ones stay parked for the next. */
const maxAtOnce = 100

const mappable: ReadonlySet<ParkedReason> = new Set(['no_mapping', 'product_not_found', 'key_type_not_found'])

/** Whether a member who says what was sold can release a parked sale. */
export const isMappable = ({ parked }: Pick<KnownSale, 'parked'>): boolean =>
  parked !== null && mappable.has(parked.reason)

/**
 * The provider's id that later sales of the same thing will have as well; undefined where there is none: a session of
 * stripe whose items could not be read, or an unknown product of keyledger's that the vendor named.
 */
export function itemOf({ provider, sold }: Pick<KnownSale, 'provider' | 'sold'>): string | undefined {
  if (!('providerProduct' in sold)) return undefined
  return provider === 'stripe' && !/^(?:plink|price)_/.test(sold.providerProduct)
    ? undefined
    : sold.providerProduct
}

/** The sales that are mapped together: this one, and the others that sold the same thing and are parked. */
export const similarSales = (ports: Pick<ReplayPorts, 'db'>, sale: KnownSale) =>
  listParkedLike(ports.db, sale, maxAtOnce)

export type MappingOutcome = { licensed: number; stillParked: number }

/**
 * Says what a parked sale sold: maps it for later sales, where the provider has an id of it, and licenses the sale and
 * all others like it.
 * @returns how many sales have their license now, and how many are parked still
 * @throws Refusal `sale_not_found`, `sale_not_parked`, `mapping_key_type_not_found`, `integration_not_connected`,
 *   `tenant_suspended`, `tenant_closed`
 */
export async function mapParkedSale(
  ports: ReplayPorts,
  id: string,
  product: PresentProduct,
  keyTypeId: string,
  origin: Origin,
): Promise<MappingOutcome> {
  const { tenantId } = product
  const sale = await findSale(ports.db, tenantId, id)
  if (!sale) throw new Refusal('sale_not_found')
  if (!isMappable(sale)) throw new Refusal('sale_not_parked')
  const keyType = findKeyType(product, keyTypeId)
  if (!keyType) throw new Refusal('mapping_key_type_not_found')
  const tenant = await findTenant(ports.db, tenantId)
  if (tenant && tenant.status !== 'active') throw new Refusal(`tenant_${tenant.status}`)
  const item = itemOf(sale)
  if (item !== undefined) await mapItem(ports, product, sale.provider, { item, keyTypeId }, origin)
  const { items, count } = await similarSales(ports, sale)
  let licensed = 0
  for (const like of items) {
    if (await licenseAs(ports, like, product, keyType, origin)) licensed += 1
  }
  return { licensed, stillParked: count - licensed }
}

/** @returns whether the sale has its license, also when another process has licensed it meanwhile */
async function licenseAs(
  ports: ReplayPorts,
  sale: KnownSale,
  product: PresentProduct,
  keyType: KeyType,
  origin: Origin,
): Promise<boolean> {
  const { state, revision } = await loadSale(ports, sale)
  if (state.status !== 'parked') return true
  // Of its other items nothing was mapped, or it would have a license.
  const resolutions = [
    resolutionAs(product, keyType, state.quantity),
    ...(await resolveKnown(ports, state)).resolutions.slice(1),
  ]
  const resolve = (at: string): SaleCommand => ({ type: 'ResolveSale', resolutions, at })
  const { outcome } = await waitOnce(ports, async (nonWaiting) => {
    const { sale: mapped } = await changeSale(nonWaiting, state, origin, resolve, { state, revision })
    return advanceToOutcome(nonWaiting, mapped, origin)
  })
  return outcome !== 'parked'
}

/**
 * Maps and licenses a parked sale again, or the items of a sale that were not mapped before, or applies a plan change of its subscription that was not mapped before.
 * @throws Refusal `sale_not_found`, `sale_not_parked`, `sale_still_parked`, `tenant_suspended`, `tenant_closed`
 */
export async function replaySale(
  ports: ReplayPorts,
  tenantId: string,
  id: string,
  origin: Origin,
): Promise<KnownSale> {
  const known = await findSale(ports.db, tenantId, id)
  if (!known) throw new Refusal('sale_not_found')
  const loaded = await loadSale(ports, known)
  const { state } = loaded
  if (state.status === 'licensed' && state.unmappedPlan !== null) {
    return reviewPlan(ports, { state, revision: loaded.revision }, origin)
  }
  const lacks = state.status === 'licensed' && unlicensedCount(state)
  if (state.status !== 'parked' && !lacks) throw new Refusal('sale_not_parked')
  const { outcome } = await waitOnce(ports, async (nonWaiting) =>
    advanceToOutcome(
      nonWaiting,
      await mapAgain(nonWaiting, { state, revision: loaded.revision }, origin),
      origin,
    ),
  )
  if (outcome === 'parked') throw new Refusal('sale_still_parked')
  const { state: sale } = await loadSale(ports, known)
  if (sale.status === 'absent') throw new Refusal('sale_not_found')
  if (lacks && unlicensedCount(sale) === lacks) throw new Refusal('sale_still_parked')
  return sale
}

/** How many items besides the first have no license, since they are not mapped. */
const unlicensedCount = ({ others }: KnownSale): number =>
  others.filter(({ unmapped }) => unmapped !== null).length

/** Maps the changed plan again, and applies it to the license. */
async function reviewPlan(ports: ReplayPorts, loaded: Loaded<KnownSale>, origin: Origin): Promise<KnownSale> {
  const sale = await waitOnce(ports, async (nonWaiting) => {
    const review = (at: string): SaleCommand => ({ type: 'ReviewPlan', at })
    const reviewed = await changeSale(nonWaiting, loaded.state, origin, review, loaded)
    return (await advanceSale(nonWaiting, reviewed.sale, origin)).sale
  })
  if (sale.unmappedPlan !== null) throw new Refusal('sale_still_parked')
  return sale
}
