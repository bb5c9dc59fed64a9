import type { Origin } from '../commands/origin.ts'
import { type KnownSale, nextStep, type SaleStep } from '../domain/sales/sale.ts'
import { LedgerUnavailable } from '../ledger/connection/unavailable.ts'
import type { Loaded } from '../ledger/load.ts'
import { type Issued, issueLicenses } from './issue-license.ts'
import type { AdvancePorts } from './ports.ts'
import { settle } from './settle.ts'

/** One step of a sale. It may be repeated, after a crash or by another process, and then changes nothing more. */
type Step = (
  ports: AdvancePorts,
  loaded: Loaded<KnownSale>,
  origin: Origin,
  isNew: boolean,
) => Promise<{ sale: Loaded<KnownSale>; issued?: Issued | undefined }>

/** A sale is received and mapped in one append, then licensed, and settled after every later notification. */
const steps: Record<SaleStep, Step> = { license: issueLicenses, settle }

/** Each step ends what another process would otherwise end, so only very many processes could need more. */
const maxSteps = 50

/**
 * Takes a sale's steps until none is left: its license exists and follows every recorded notification. Notifications,
 * replays and the resumption after a crash all call this. Any number of processes may do so at once, and each may be
 * killed at any point: the next one continues from what is recorded.
 * @param isNew the sale was received a moment ago, so no other process has taken a step
 * @returns the sale as it is now, and the license with its key if this call issued it
 * @throws LedgerUnavailable when too many others change the sale at the same time; Refusal as the steps
 */
export async function advanceSale(
  ports: AdvancePorts,
  loaded: Loaded<KnownSale>,
  origin: Origin,
  isNew = false,
): Promise<{ sale: KnownSale; issued: Issued | undefined }> {
  let sale = loaded
  let issued: Issued | undefined
  for (let taken = 0; taken < maxSteps; taken++) {
    const step = nextStep(sale.state)
    if (step === undefined) return { sale: sale.state, issued }
    const outcome = await steps[step](ports, sale, origin, isNew && taken === 0)
    sale = outcome.sale
    issued ??= outcome.issued
  }
  throw new LedgerUnavailable(`too many concurrent attempts to process the sale ${sale.state.id}`)
}
