import type { UnmatchedFact } from '../../../projections/sales/unmatched.ts'
import type { KnownDelivery } from '../../domain/deliveries/delivery.ts'
import { Provider, providerNames } from '../../domain/integrations/provider.ts'
import type { ParkedReason, SaleEvent } from '../../domain/sales/events.ts'
import { type KnownSale, salePaymentStatus } from '../../domain/sales/sale.ts'
import { money } from '../../history/changes.ts'
import { warningsOf } from '../../history/sale-warnings.ts'
import { type Content, type Html, html } from '../../html.ts'
import type { Buyer } from '../../sales/buyers.ts'
import { isMappable } from '../../sales/parked.ts'
import { deliveryBadge, deliveryWords } from '../deliveries/view.ts'
import { ago, moment } from '../frame/moments.ts'
import type { View } from '../frame/page.ts'
import {
  badge,
  choicesOf,
  copyable,
  empty,
  facts,
  filters,
  heading,
  notice,
  pager,
  productSelect,
  section,
  select,
  type Tone,
  table,
  tokenField,
} from '../frame/parts.ts'
import { customerLine, keptCustomer } from '../lists/lists.ts'
import { type IgnoredTests, ignoredTestsPart } from './ignored-tests.ts'
import { creditWords, itemName, itemsTable, itemWords, unmatchedPart } from './items-view.ts'
import { type SaleMapping, saleMappingForm } from './map-sale-view.ts'
import { saleTimeline } from './timeline.ts'

export type SaleRow = { sale: KnownSale; buyer: Buyer }

type Sales = {
  sales: readonly SaleRow[]
  products: readonly { productId: string; name: string }[]
  filter: {
    status: KnownSale['status'] | undefined
    provider: Provider | undefined
    product: string | undefined
    needs: 'holder' | undefined
    customer: string | undefined
  }
  cursor: string | undefined
  next: string | null
  ignored: IgnoredTests
  unmatched: readonly UnmatchedFact[]
}

const statuses: Record<KnownSale['status'], readonly [tone: Tone, words: string]> = {
  parked: ['bad', 'parked'],
  received: ['warn', 'received'],
  licensed: ['good', 'licensed'],
}

const namedStatuses = Object.entries(statuses).map(([status, [, words]]) => [status, words] as const)
const namedProviders = Provider.options.map((provider) => [provider, providerNames[provider]] as const)

const noticeWords = {
  quantity_exceeded: 'quantity exceeded',
  plan_not_mapped: 'plan not mapped',
  item_not_mapped: 'item not mapped',
  renewal_failed: 'renewal failed',
} as const

/** The name of a buyer in lists and headings. */
export const buyerWords = ({ customer }: KnownSale, email: string | null): string =>
  email ?? (customer === null ? 'No email address' : 'Erased customer')

function statusBadges(sale: KnownSale, { needsHolder }: Buyer): Html {
  const isRefunded = salePaymentStatus(sale).unpaid !== null
  return html`<span
    >${badge(...statuses[sale.status])} ${isRefunded && badge('plain', 'refunded')}
    ${needsHolder && badge('warn', 'no holder')}
    ${warningsOf(sale).map(({ code }) => badge('warn', noticeWords[code]))} ${sale.test && badge('plain', 'test')}</span
  >`
}

export function salesView(
  view: View,
  { sales, products, filter, cursor, next, ignored, unmatched }: Sales,
): Html {
  const isFiltered = Object.values(filter).some((value) => value !== undefined)
  return html`<div>
    ${heading('Sales', 'Sales reported by payment providers, newest first. A parked sale is paid but has no license yet.')}
    ${filters('/dashboard/sales', 'sales', [
      keptCustomer(filter.customer),
      select('status', 'Status', choicesOf('Any status', namedStatuses, filter.status)),
      select('provider', 'Provider', choicesOf('All providers', namedProviders, filter.provider)),
      productSelect(products, filter.product),
      select('needs', 'Holder', choicesOf('Any', [['holder', 'missing']], filter.needs)),
    ])}
    <div id="sales">
      ${customerLine(filter.customer, '/dashboard/sales', 'Show all sales')}
      ${sales.length === 0 ? noSales(isFiltered) : html`<div class="sheeted">${salesTable(view, sales)}</div>`}
      ${pager('/dashboard/sales', { ...filter, cursor }, next)} ${unmatchedPart(view, unmatched)}
      ${ignoredTestsPart(view, ignored)}
    </div>
  </div>`
}

const noSales = (isFiltered: boolean): Html =>
  isFiltered
    ? empty('No sales match these filters', 'Choose another status, provider, product or holder.')
    : empty(
        'No sales yet',
        'The integrations page lists what each payment provider still needs before its sales appear here.',
        html`<a href="/dashboard/integrations">View integrations</a>`,
      )

export function salesTable(view: View, sales: readonly SaleRow[]): Html {
  return table({
    caption: 'Sales',
    columns: [
      { label: 'Sale' },
      { label: 'Provider', wide: true },
      { label: 'Amount', wide: true, number: true },
      { label: 'Status' },
      { label: 'Received', wide: true },
    ],
    rows: sales.map(({ sale, buyer }): Content[] => [
      html`<span
        ><a href=${`/dashboard/sales/${sale.id}`}>${buyerWords(sale, buyer.email)}</a
        ><span class="sub">${itemName(sale)}</span></span
      >`,
      providerNames[sale.provider],
      money(sale.amount, sale.currency),
      statusBadges(sale, buyer),
      ago(sale.receivedAt, view.now),
    ]),
  })
}

type OneSale = {
  sale: KnownSale
  buyer: Buyer
  /** The masked keys of its licenses, as far as there are any. */
  displayKeys: ReadonlyMap<string, string>
  history: readonly SaleEvent[]
  deliveries: readonly KnownDelivery[]
  mayReplay: boolean
  /** What the form that maps a parked sale needs; undefined where none does. */
  mapping: SaleMapping | undefined
}

export function saleView(view: View, one: OneSale): Html {
  const { sale, buyer, history, deliveries } = one
  return html`<div>
    ${heading(buyerWords(sale, buyer.email), copyable('sale ID', sale.id))} ${sale.parked && parkedBox(view, one)}
    ${buyer.needsHolder && needsHolderBox} ${warningsOf(sale).map(({ message }) => notice('warn', message))}
    ${lacksMapping(sale) && one.mayReplay && replayForm(view.token, sale)}
    <div class="sheet">
      ${facts([
        ['Status', statusBadges(sale, buyer)],
        ['Item', itemWords(sale)],
        ['Amount', money(sale.amount, sale.currency)],
        ['Provider', providerNames[sale.provider]],
        ['Provider sale ID', copyable('provider sale ID', sale.saleId)],
        sale.orderNumber !== undefined && ['Order number', copyable('order number', sale.orderNumber)],
        ...(sale.productId === null
          ? []
          : [
              [
                'Product',
                html`<a href=${`/dashboard/products/${sale.productId}`}>${sale.productId}</a>`,
              ] as const,
            ]),
        ...(buyer.gift ? [['Gift from', buyer.gift.giverEmail ?? 'Erased customer'] as const] : []),
        ['Received', moment(sale.receivedAt)],
      ])}
    </div>
    ${sale.others.length > 0 && section('Items', itemsTable(sale, one.displayKeys), 'What was bought at once. Each mapped item has a license of its own.')}
    ${section('Progress', stages(one))}
    ${section('History', saleTimeline(history, deliveries), 'All notifications, changes and deliveries of this sale, oldest first.')}
  </div>`
}

/** Whether a replay would do more once something of a licensed sale is mapped. */
const lacksMapping = ({ status, unmappedPlan, others }: KnownSale): boolean =>
  status === 'licensed' && (unmappedPlan !== null || others.some(({ unmapped }) => unmapped !== null))

const reasons: Record<ParkedReason, string> = {
  no_mapping: 'The item is not mapped to a product.',
  product_not_found: 'The item is mapped to a product that does not exist.',
  key_type_not_found: 'The item is mapped to a key type that does not exist.',
  quantity_not_allowed:
    'More than one was bought of a key type that is not sold in multiples. Replay the sale: the license covers the paid quantity.',
  quantity_too_large:
    'More were bought than the key type allows per purchase. Replay the sale: the license covers the paid quantity.',
  no_license_for_credit:
    'Credits were bought, but no license can have them. Issue the buyer a license with this meter, or add the meter to its key type, then replay the sale. Or add the credit to a license yourself.',
  tenant_suspended:
    'The workspace was suspended when the sale arrived. Replay the sale once the workspace is active.',
  tenant_closed: 'The workspace is closed.',
}

const needsHolderBox = notice(
  'warn',
  'The provider sent no email address, so no email was sent. Link the license to a customer on its page, and replace its key if the buyer has none yet.',
)

function parkedBox({ token }: View, { sale, mayReplay, mapping }: OneSale): Content {
  if (sale.parked === null) return null
  const { reason, detail } = sale.parked
  return html`<div class="stack">
    ${notice('warn', html`Parked: paid, but no license yet. ${reasons[reason]} <code>${detail}</code>`)}
    ${mapping && saleMappingForm(token, sale, mapping)} ${mayReplay && replayForm(token, sale)}
  </div>`
}

const replayForm = (token: string, sale: KnownSale): Html =>
  html`<form method="post" action=${`/dashboard/sales/${sale.id}/replay`}>
    ${tokenField(token)}
    <button class=${sale.parked && isMappable(sale) ? 'second' : undefined}>Replay sale</button>
  </form>`

/** The progress of a sale through its five stages. */
function stages({ sale, displayKeys, deliveries }: OneSale): Html {
  const mail = deliveries.find(({ channel, event }) => channel === 'mail' && event === 'license.created')
  const webhook = deliveries.find(
    ({ channel, event }) => channel === 'webhook' && event === 'license.created',
  )
  const again = sale.duplicates === 1 ? '1 more notification' : `${sale.duplicates} more notifications`
  const rows: Content[][] = [
    ['Notification', badge('good', 'verified'), moment(sale.receivedAt)],
    [
      'Deduplication',
      sale.duplicates === 0 ? badge('good', 'unique') : badge('plain', 'ignored'),
      sale.duplicates === 0 ? 'no other notification of the same sale' : `${again} of the same sale`,
    ],
    [
      sale.credit ? 'Credit' : 'License',
      badge(...statuses[sale.status]),
      sale.credit ? creditWords(sale.credit) : licenseWords(sale, displayKeys.get(sale.licenseId)),
    ],
    [
      'Email',
      mail ? deliveryBadge(mail) : notYet(sale),
      mail ? deliveryLink(mail) : afterLicense(sale, 'no email to send'),
    ],
    [
      'Webhook',
      webhook ? deliveryBadge(webhook) : notYet(sale),
      webhook ? deliveryLink(webhook) : afterLicense(sale, 'no webhook for license.created'),
    ],
  ]
  return html`<div class="sheeted">
    ${table({ caption: 'Stages', columns: [{ label: 'Stage' }, { label: 'Status' }, { label: 'Details' }], rows })}
  </div>`
}

const notYet = ({ status }: KnownSale): Html =>
  status === 'licensed' ? badge('plain', 'none') : badge('plain', 'pending')

const afterLicense = ({ status }: KnownSale, words: string): string =>
  status === 'licensed' ? words : 'after the license is issued'

const deliveryLink = (delivery: KnownDelivery): Html =>
  html`<a href=${`/dashboard/deliveries/${delivery.deliveryId}`}>${deliveryWords(delivery)}</a>`

function licenseWords({ licenseId, licensedAt, parked }: KnownSale, displayKey: string | undefined): Content {
  if (displayKey === undefined) return parked ? reasons[parked.reason] : 'not issued yet'
  return html`<span
    ><a class="mono" href=${`/dashboard/licenses/${licenseId}`}>${displayKey}</a>${
      licensedAt !== null && html`<span class="sub">${moment(licensedAt)}</span>`
    }</span
  >`
}
