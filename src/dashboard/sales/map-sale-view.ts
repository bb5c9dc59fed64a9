import type { PresentProduct } from '../../../projections/products/queries.ts'
import { providerNames } from '../../domain/integrations/provider.ts'
import type { KnownSale } from '../../domain/sales/sale.ts'
import { type Html, html } from '../../html.ts'
import { itemOf } from '../../sales/parked.ts'
import { badge, empty, section, select, tokenField } from '../frame/parts.ts'

export type SaleMapping = {
  products: readonly PresentProduct[]
  /** How many parked sales sold the same thing, this one included. */
  count: number
}

/** The value of a choice: a product and one of its key types. */
const choiceOf = (productId: string, keyTypeId: string): string => `${productId}/${keyTypeId}`

/** The key types of all products, as `product, key type`. */
export const keyTypeChoices = (products: readonly PresentProduct[]) =>
  products.flatMap(({ productId, name, keyTypes }) =>
    keyTypes.map((keyType) => ({
      value: choiceOf(productId, keyType.keyTypeId),
      label: `${name}, ${keyType.name}`,
    })),
  )

/** The form that says what a parked sale sold, and licenses it and all others like it. */
export function saleMappingForm(token: string, sale: KnownSale, { products, count }: SaleMapping): Html {
  const choices = keyTypeChoices(products)
  if (choices.length === 0) {
    return empty(
      'No product yet',
      'Create the product that was sold, then return here.',
      html`<a href="/dashboard/products">View products</a>`,
    )
  }
  const item = itemOf(sale)
  const others = count - 1
  return section(
    'What was sold',
    html`<form class="sheet stack" method="post" action=${`/dashboard/sales/${sale.id}/map`}>
      ${tokenField(token)}
      ${select('sold', 'This is', [{ value: '', label: 'Choose a key type' }, ...choices], hintOf(sale, item))}
      ${
        others > 0 &&
        html`<p>
          ${badge('warn', String(others))}
          ${others === 1 ? 'other parked sale of the same item is' : 'other parked sales of the same item are'} licensed with it.
        </p>`
      }
      <div><button>${others > 0 ? `License ${count} sales` : 'License sale'}</button></div>
    </form>`,
    'The buyer then gets the license key by email, as for every sale.',
  )
}

const hintOf = ({ provider }: KnownSale, item: string | undefined): Html =>
  item === undefined
    ? html`${providerNames[provider]} sends no item ID that later sales would share, so only this sale is licensed. Add${' '}
        <code>product_id</code> to the metadata of the payment.`
    : html`Later sales of <code>${item}</code> at ${providerNames[provider]} are licensed as this, too.`
