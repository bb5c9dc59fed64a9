import type { PresentProduct } from '../../projections/products/queries.ts'
import { usingKeyType } from '../commands/cross-stream/key-type-use.ts'
import { causeOf, momentOf, type Origin } from '../commands/origin.ts'
import { changeSale } from '../commands/sales.ts'
import type { SaleTerms } from '../domain/licenses/following.ts'
import { licenses } from '../domain/licenses/license.ts'
import { itemsOf, type SaleItem } from '../domain/sales/items.ts'
import { itemPaymentStatus, type KnownSale, type SaleCommand } from '../domain/sales/sale.ts'
import type { Loaded } from '../ledger/load.ts'
import type { Ports } from '../ports.ts'
import { undefinedIfKeyTypeGone } from './key-type-gone.ts'
import { bindLinks } from './links.ts'
import { termsOfPlan } from './plan.ts'

/** Applies the recorded notifications to the license, and records that it did. */
export async function settle(
  ports: Ports<'db' | 'execute' | 'findProduct' | 'keyTypes' | 'now'>,
  loaded: Loaded<KnownSale>,
  origin: Origin,
): Promise<{ sale: Loaded<KnownSale> }> {
  const { state: sale } = loaded
  const kept = sale.unboundLinks ? await bindLinks(ports, sale, origin) : []
  const isBehind = sale.settledThrough < sale.factCount
  const unmappedPlan = isBehind ? await followItems(ports, sale, origin) : undefined
  const settled = (at: string): SaleCommand => ({
    type: 'SettleSale',
    through: sale.factCount,
    unmappedPlan,
    boundLinks: sale.links,
    kept,
    at,
  })
  return changeSale(ports, sale, origin, settled, loaded)
}

/** Applies the facts to the license of each item. @returns the plan of one, if no key type is mapped to it */
async function followItems(
  ports: Ports<'db' | 'execute' | 'findProduct' | 'keyTypes' | 'now'>,
  sale: KnownSale,
  origin: Origin,
): Promise<string | null> {
  let unmapped: string | null = null
  for (const item of itemsOf(sale)) {
    if (item.licensedAt !== null) unmapped = (await followSale(ports, sale, item, origin)) ?? unmapped
  }
  return unmapped
}

/** Applies the facts and the plan to a license. @returns the plan, if no key type is mapped to it */
async function followSale(
  ports: Ports<'db' | 'execute' | 'findProduct' | 'keyTypes' | 'now'>,
  sale: KnownSale,
  item: SaleItem,
  origin: Origin,
  known?: PresentProduct,
): Promise<string | null> {
  const product = known ?? (await ports.findProduct(sale.tenantId, item.productId ?? ''))
  const { terms, unmapped } = await termsOfPlan(ports, sale, item, product)
  const follow = (proof?: () => Promise<void>) =>
    followOn(ports, sale, item, { product, terms, proof }, origin)
  if (terms === null || terms.keyTypeId === item.keyTypeId) await follow()
  else {
    const place = { tenantId: sale.tenantId, productId: item.productId ?? '', keyTypeId: terms.keyTypeId }
    const followed = await usingKeyType(ports, place, (proof) => follow(proof)).catch(undefinedIfKeyTypeGone)
    // The read models do not show yet that it is deleted.
    if (followed === undefined && product) {
      const keyTypes = product.keyTypes.filter(({ keyTypeId }) => keyTypeId !== terms.keyTypeId)
      return followSale(ports, sale, item, origin, { ...product, keyTypes })
    }
  }
  return unmapped
}

type Following = {
  product: PresentProduct | undefined
  terms: SaleTerms | null
  proof: (() => Promise<void>) | undefined
}

/** @returns whether anything was recorded */
async function followOn(
  ports: Ports<'execute' | 'now'>,
  sale: KnownSale,
  item: SaleItem,
  { product, terms, proof }: Following,
  origin: Origin,
): Promise<boolean> {
  const { onRefund, onPaidInFull } = product?.settings ?? {}
  const keepRefunded = onRefund === 'keep'
  const at = momentOf(ports)
  const { events } = await ports.execute(
    licenses,
    item.licenseId,
    {
      type: 'FollowSale',
      saleId: sale.saleId,
      through: sale.factCount,
      ...itemPaymentStatus(sale, item, { keepRefunded, onPaidInFull }),
      keepRefunded,
      terms,
      at,
    },
    causeOf(origin, at),
    { proof },
  )
  return events.length > 0
}
