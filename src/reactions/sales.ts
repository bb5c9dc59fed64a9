import { listOpenSales } from '../../projections/sales/queries.ts'
import { createBackoff } from '../async/backoff.ts'
import { advanceSale } from '../commands/sale-process.ts'
import { loadSale } from '../commands/sale-streams.ts'
import type { Services } from '../commands/services.ts'
import { newId } from '../credentials/id.ts'
import { graceAt } from './grace.ts'
import type { Reaction } from './reaction.ts'

type Options = {
  /** So long whoever received a sale is left to carry it on. */
  graceMs?: number
  /** Told of a sale that could not be carried on; it is tried again later. */
  onTrouble: (trouble: { sale: string; error: unknown }) => void
}

/** Carries on the sales that were left half done by somebody who died. */
export function saleReaction(services: Services, { graceMs = 10_000, onTrouble }: Options): Reaction {
  const backoff = createBackoff(services.now)

  async function round(): Promise<void> {
    const open = await listOpenSales(services.db, graceAt(services.now(), graceMs))
    const waiting = new Set(backoff.waiting())
    for (const sale of open) {
      if (waiting.has(sale.id)) continue
      try {
        const { state, revision } = await loadSale(services, sale)
        const origin = { requestId: newId('req'), actor: 'system:reactions' }
        if (state.status !== 'absent') await advanceSale(services, { state, revision }, origin)
        backoff.succeeded(sale.id)
      } catch (error) {
        onTrouble({ sale: sale.id, error })
        backoff.failed(sale.id)
      }
    }
    backoff.retainOnly(open.map(({ id }) => id))
  }

  return { name: 'sales.resume', everyMs: 1000, round }
}
