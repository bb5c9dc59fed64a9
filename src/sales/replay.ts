import { findSale } from '../../projections/sales/queries.ts'
import { waitOnce } from '../commands/cross-stream/wait-once.ts'
import type { Origin } from '../commands/origin.ts'
import { changeSale, loadSale } from '../commands/sales.ts'
import { Refusal } from '../domain/refusal.ts'
import type { KnownSale, SaleCommand } from '../domain/sales/sale.ts'
import type { Loaded } from '../ledger/load.ts'
import { advanceSale } from './advance.ts'
import { mapAgain } from './mapping.ts'
import { advanceToOutcome } from './outcome.ts'
import type { ReplayPorts } from './ports.ts'

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
