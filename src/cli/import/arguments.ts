import type { PresentProduct } from '../../../projections/products/queries.ts'
import { requireCustomer } from '../../commands/customers/customers.ts'
import { ConfigError } from '../../config.ts'
import { Refusal } from '../../domain/refusal.ts'
import { isSlug } from '../../domain/values.ts'
import type { ProductOf } from '../../import/plan/targets.ts'
import { type CsvColumn, csvColumns } from '../../import/sources/csv.ts'
import type { Ports } from '../../ports.ts'

/** Collects an option that may be repeated. */
export const repeated = (value: string, former: string[] | undefined): string[] => [...(former ?? []), value]

/** @throws ConfigError for a text without `=`; the left side may contain one */
function pairOf(option: string, text: string): [string, string] {
  const at = text.lastIndexOf('=')
  if (at <= 0 || at === text.length - 1)
    throw new ConfigError(`${option} ${text} is not valid. Write it as ${option} <theirs>=<ours>.`)
  return [text.slice(0, at), text.slice(at + 1)]
}

export const pairsOf = (option: string, texts: readonly string[] = []): Map<string, string> =>
  new Map(texts.map((text) => pairOf(option, text)))

const isColumn = (text: string): text is CsvColumn => csvColumns.some((column) => column === text)

/** `--column 'License ID=externalId'`. @throws ConfigError */
export function columnsOf(texts: readonly string[] = []): Map<string, CsvColumn> {
  return new Map(
    texts.map((text) => {
      const [theirs, ours] = pairOf('--column', text)
      if (!isColumn(ours))
        throw new ConfigError(`--column ${text} is not valid. Columns are ${csvColumns.join(', ')}.`)
      return [theirs, ours]
    }),
  )
}

/**
 * Which product each license goes to: `--product editor` for all, or `--product theirs=ours` for each.
 * @throws ConfigError; Refusal `product_not_found`
 */
export async function productsOf(
  { findProduct }: Ports<'findProduct'>,
  tenantId: string,
  texts: readonly string[],
): Promise<ProductOf> {
  const find = async (productId: string): Promise<PresentProduct> => {
    const product = isSlug(productId) ? await findProduct(tenantId, productId) : undefined
    if (!product) throw new Refusal('product_not_found')
    return product
  }
  const [first = ''] = texts
  if (texts.length === 1 && !first.includes('=')) {
    const product = await find(first)
    return () => product
  }
  const products = new Map<string, PresentProduct>()
  for (const [theirs, ours] of pairsOf('--product', texts)) products.set(theirs, await find(ours))
  return (foreignProductId) => products.get(foreignProductId ?? '')
}

/**
 * Our customers by the organizations that they are there: `--organization <theirs>=cus_…`.
 * @throws ConfigError; Refusal `customer_not_found`, `customer_erased`, `customer_merged`
 */
export async function customersNamed(
  ports: Ports<'db'>,
  tenantId: string,
  texts: readonly string[] = [],
): Promise<Map<string, string>> {
  const named = pairsOf('--organization', texts)
  for (const customerId of named.values()) {
    const { customer } = await requireCustomer(ports, tenantId, customerId)
    if (customer.erasedAt !== null) throw new Refusal('customer_erased')
    if (customer.mergedInto !== undefined) throw new Refusal('customer_merged')
  }
  return named
}
