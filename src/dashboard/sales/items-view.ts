import { itemsOf, type SaleItem } from '../../domain/sales/items.ts'
import type { KnownSale } from '../../domain/sales/sale.ts'
import { type Content, type Html, html } from '../../html.ts'
import { moment } from '../frame/moments.ts'
import { badge, table } from '../frame/parts.ts'

/** Everything that was bought at once, each with its license; of a sale with one item the page shows these already. */
export function itemsTable(sale: KnownSale, displayKeys: ReadonlyMap<string, string>): Html {
  const rows = itemsOf(sale).map((item): Content[] => [
    nameOf(item),
    String(item.quantity),
    item.productId === null
      ? badge('warn', 'not mapped')
      : html`<a href=${`/dashboard/products/${item.productId}`}>${item.productId}</a>, ${item.keyTypeId}`,
    licenseOf(item, displayKeys.get(item.licenseId)),
  ])
  const columns = [
    { label: 'Item' },
    { label: 'Quantity', number: true },
    { label: 'Key type' },
    { label: 'License' },
  ]
  return html`<div class="sheeted">${table({ caption: 'Items', columns, rows })}</div>`
}

const nameOf = ({ sold, priceId }: SaleItem): Html =>
  html`<code>${'providerProduct' in sold ? sold.providerProduct : (priceId ?? sold.productId)}</code>`

function licenseOf({ licenseId, licensedAt }: SaleItem, displayKey: string | undefined): Content {
  if (licensedAt === null || displayKey === undefined) return 'none'
  return html`<span
    ><a class="mono" href=${`/dashboard/licenses/${licenseId}`}>${displayKey}</a
    ><span class="sub">${moment(licensedAt)}</span></span
  >`
}
