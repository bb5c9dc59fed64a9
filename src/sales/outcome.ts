import type { Origin } from '../commands/origin.ts'
import { changeSale } from '../commands/sales.ts'
import type { IssuedLicense } from '../domain/licenses/license.ts'
import { Refusal } from '../domain/refusal.ts'
import type { ParkedReason } from '../domain/sales/events.ts'
import type { KnownSale } from '../domain/sales/sale.ts'
import type { Loaded } from '../ledger/load.ts'
import type { IgnoredReason } from '../usage/ignored-tests.ts'
import { advanceSale } from './advance.ts'
import { bindLinks } from './links.ts'
import type { AdvancePorts } from './ports.ts'

/** The outcome of a received notification. */
export type ReceivedOutcome =
  /** The only answer that holds the raw key. */
  | { outcome: 'issued'; saleId: string; license: IssuedLicense; licenseKey: string }
  /** The sale has its license already. */
  | { outcome: 'duplicate' }
  /** A renewal, refund, dispute or end, also for a sale that is not known yet. */
  | { outcome: 'recorded' }
  /** Paid and kept, but it is not known what to issue. */
  | { outcome: 'parked'; reason: ParkedReason; detail: string }
  /** A test notification for a product that is not in test mode. */
  | { outcome: 'ignored'; reason: IgnoredReason }

/**
 * Advances a sale and returns the outcome.
 * @throws Refusal `tenant_suspended`, `tenant_closed` for a sale that is parked because of it
 */
export async function advanceToOutcome(
  ports: AdvancePorts,
  loaded: Loaded<KnownSale>,
  origin: Origin,
  isNew = false,
): Promise<ReceivedOutcome> {
  const { sale, issued } = await advanceSale(ports, loaded, origin, isNew)
  if (issued) return { outcome: 'issued', saleId: sale.saleId, ...issued }
  if (!sale.parked) return { outcome: 'duplicate' }
  // Facts that were kept under its other links need not wait until it is licensed.
  const facts = await bindLinks(ports, sale, origin)
  if (facts.length > 0) await changeSale(ports, sale, origin, () => ({ type: 'RecordFacts', facts }))
  const { reason, detail } = sale.parked
  if (reason === 'tenant_suspended' || reason === 'tenant_closed') throw new Refusal(reason)
  return { outcome: 'parked', reason, detail }
}
