import { findLicense, listLicenses } from '../../../projections/licenses/queries.ts'
import { findMetering } from '../../../projections/meters/licenses.ts'
import type { PresentProduct } from '../../../projections/products/queries.ts'
import { isId } from '../../credentials/id.ts'
import type { CreditPack } from '../../domain/integrations/credit-packs.ts'
import { statusAt } from '../../domain/licenses/status.ts'
import { AmountText, amountOf, amountText } from '../../domain/meters/amount.ts'
import type { Resolution } from '../../domain/sales/items.ts'
import type { Ports } from '../../ports.ts'
import { momentOf } from '../origin.ts'
import { meterOfLicense } from './meters.ts'

/** Whose license a credit may be for. */
export type CreditBuyer = {
  /** undefined where the provider named no one, or a person without any license. */
  subjectId: string | undefined
  /** The license that the checkout named. */
  licenseId: string | undefined
  /** Whether no money was moved: only a license of a test gets credits that no one paid for, and only such a purchase's. */
  test: boolean
}

/** More licenses of one person for one product than anyone looks at. */
const mostOfBuyer = 100

/**
 * Finds the license that a bought credit is for: the one that the checkout named, or else the buyer's newest that is active and has
 * the meter.
 */
export async function creditFor(
  ports: Ports<'db' | 'now'>,
  { tenantId, productId }: PresentProduct,
  { meter, amount: each, days }: CreditPack,
  quantity: number,
  buyer: CreditBuyer,
): Promise<Resolution> {
  const amount = amountText(amountOf(each) * BigInt(quantity))
  if (!AmountText.safeParse(amount).success)
    return { reason: 'quantity_too_large', detail: `${quantity} × ${each}` }
  for (const licenseId of await candidates(ports, tenantId, productId, buyer)) {
    const metering = await findMetering(ports.db, tenantId, licenseId)
    const found = metering && meterOfLicense(metering, meter)
    if (!found) continue
    const { owner } = found
    const customerId = 'customerId' in owner ? owner.customerId : null
    return { credit: { productId, licenseId, customerId, meter, unit: owner.unit, amount, days } }
  }
  const whose = buyer.licenseId === undefined ? 'of the buyer' : `named ${buyer.licenseId}`
  const detail = `no active ${buyer.test ? 'test ' : ''}license ${whose} of ${productId} with the meter ${meter}`
  return { reason: 'no_license_for_credit', detail: detail.slice(0, 1000) }
}

/** The ids of the licenses that may be meant, the likeliest first. */
async function candidates(
  ports: Ports<'db' | 'now'>,
  tenantId: string,
  productId: string,
  { subjectId, licenseId, test }: CreditBuyer,
): Promise<string[]> {
  const now = momentOf(ports)
  const active = { productId, status: 'active', test } as const
  if (licenseId !== undefined) {
    if (!isId('lic', licenseId)) return []
    const named = await findLicense(ports.db, tenantId, licenseId)
    const isMeant =
      named?.license.productId === productId &&
      statusAt(named.license, now) === 'active' &&
      named.license.test === test
    return isMeant ? [licenseId] : []
  }
  if (subjectId === undefined) return []
  const newest = { after: undefined, limit: mostOfBuyer, order: 'newest' } as const
  const { items } = await listLicenses(ports.db, tenantId, { ...active, subjectId }, now, newest)
  return items.map(({ license }) => license.licenseId)
}
