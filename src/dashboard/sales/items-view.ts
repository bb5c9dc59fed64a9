import type { UnmatchedFact } from '../../../projections/sales/unmatched.ts'
import { providerNames } from '../../domain/integrations/provider.ts'
import { amountText } from '../../domain/meters/amount.ts'
import { type ItemCredit, spentOf } from '../../domain/sales/credits.ts'
import { unknownProduct } from '../../domain/sales/events.ts'
import { itemsOf, type SaleItem } from '../../domain/sales/items.ts'
import type { KnownSale } from '../../domain/sales/sale.ts'
import { money } from '../../history/changes.ts'
import { type Content, type Html, html } from '../../html.ts'
import { ago, moment } from '../frame/moments.ts'
import type { View } from '../frame/page.ts'
import { badge, section, table } from '../frame/parts.ts'

/** Everything that was bought at once, each with its license; of a sale with one item the page shows these already. */
export function itemsTable(sale: KnownSale, displayKeys: ReadonlyMap<string, string>): Html {
  const rows = itemsOf(sale).map((item): Content[] => [
    nameOf(item),
    String(item.quantity),
    item.productId === null
      ? badge('warn', 'not mapped')
      : html`<a href=${`/dashboard/products/${item.productId}`}>${item.productId}</a>, ${item.credit ? 'credit' : item.keyTypeId}`,
    item.credit ? creditWords(item.credit) : licenseOf(item, displayKeys.get(item.licenseId)),
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

/** What an item has added to a meter, and what became of it. */
export function creditWords(credit: ItemCredit): Html {
  const { added, withdrawn, licenseId, customerId, meter, unit } = credit
  const spent = spentOf(credit)
  const [link, whose] =
    customerId === null
      ? [`/dashboard/licenses/${licenseId}`, 'the license']
      : [`/dashboard/customers/${customerId}`, 'the licenses of the customer']
  return html`<span
    >${added?.amount ?? credit.amount} ${unit}, ${meter}${added === null && ', not added yet'}<span class="sub"
      >for <a href=${link}>${whose}</a>${added?.endsAt && html`, until ${moment(added.endsAt)}`}${
        withdrawn && spent !== null && `; ${withdrawn.left} taken back, ${amountText(spent)} were spent`
      }</span
    ></span
  >`
}

/** What was sold: its name at the provider, or the product and key type where the provider tells no name. */
export function itemName({ productName, productId, keyTypeId }: KnownSale): string {
  const isNamed = productName !== unknownProduct || productId === null
  return isNamed ? productName : [productId, keyTypeId].filter(Boolean).join(', ')
}

/** The same with the quantity, if it is not 1. */
export const itemWords = (sale: KnownSale): string =>
  sale.quantity === 1 ? itemName(sale) : `${sale.quantity} × ${itemName(sale)}`

/** Refunds and disputes that belong to no known sale; nothing when there are none. */
export function unmatchedPart(view: View, facts: readonly UnmatchedFact[]): Content {
  if (facts.length === 0) return null
  return html`<div id="unmatched">
    ${section(
      'Refunds and disputes without a sale',
      html`<div class="sheeted">
        ${table({
          caption: 'Refunds and disputes without a sale',
          columns: [
            { label: 'What happened' },
            { label: 'Amount', number: true },
            { label: 'Received', wide: true },
          ],
          rows: facts.map(({ provider, link, fact, receivedAt }): Content[] => [
            html`<span
              >${providerNames[provider]}, ${words[fact.type]}<span class="sub"><code>${link}</code></span></span
            >`,
            amountOf(fact),
            ago(receivedAt, view.now),
          ]),
        })}
      </div>`,
      'The purchase that the provider named was never reported. Revoke its license if there is one.',
    )}
  </div>`
}

const words: Record<UnmatchedFact['fact']['type'], string> = {
  SaleRefunded: 'refund',
  SaleDisputed: 'dispute opened',
  DisputeLost: 'dispute lost',
  DisputeWon: 'dispute won',
}

function amountOf({ data: { amount, currency } }: UnmatchedFact['fact']): string {
  return amount === null || currency === null ? 'not reported' : money(amount, currency)
}
