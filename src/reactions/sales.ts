import { listOpenSales } from '../../projections/sales/queries.ts'
import { loadSale } from '../commands/sales.ts'
import type { KnownSale } from '../domain/sales/sale.ts'
import type { AdvancePorts } from '../sales/advance.ts'
import { advanceSale } from '../sales/advance.ts'
import { graceAt } from './confirmations.ts'
import type { Poller } from './poller.ts'
import { type Failure, originOfProcess, processOf } from './process-manager.ts'

type Options = {
  /** How long the request that received a sale has to advance it before its process manager does. */
  graceMs?: number
  onFailure: (failure: Failure) => void
}

/** Resumes sales whose process died. */
export function resumeSales(ports: AdvancePorts, { graceMs = 10_000, onFailure }: Options): Poller {
  return processOf<KnownSale>(ports, onFailure, {
    name: 'sales.resume',
    everyMs: 1000,
    due: (wanted) => listOpenSales(ports.db, graceAt(ports.now(), graceMs), wanted),
    idOf: ({ id }) => id,
    async advance(sale) {
      const { state, revision } = await loadSale(ports, sale)
      if (state.status !== 'absent') await advanceSale(ports, { state, revision }, originOfProcess())
    },
  })
}
