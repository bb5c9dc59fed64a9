import { listProducts, type PresentProduct } from '../../../projections/products/queries.ts'
import type { Ports } from '../../ports.ts'

/** The maximum number of options in a filter. */
const maxChoices = 200

/** The options of the product filter. */
export async function productChoices({ db }: Ports<'db'>, tenantId: string): Promise<PresentProduct[]> {
  const { items } = await listProducts(db, tenantId, { after: undefined, limit: maxChoices })
  return items
}
