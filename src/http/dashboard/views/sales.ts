import type { Buyer } from '../../../commands/sale-buyers.ts'
import type { KnownDelivery } from '../../../domain/delivery/delivery.ts'
import { Provider } from '../../../domain/integration/provider.ts'
import type { ParkedReason, SaleEvent } from '../../../domain/sale/events.ts'
import { type KnownSale, saleStanding } from '../../../domain/sale/sale.ts'
import { money } from '../../../story/money.ts'
import { noticesOf } from '../../../story/sale-notices.ts'
import { type Content, type Html, html } from '../html.ts'
import type { View } from '../page.ts'
import { deliveryBadge, deliveryWords } from './deliveries.ts'
import { type IgnoredTests, ignoredTestsPart } from './ignored-tests.ts'
import { providerNames } from './integrations.ts'
import { ago, moment } from './moments.ts'
import {
  badge,
  choicesOf,
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
} from './parts.ts'
import { storyView } from './sale-story.ts'

type Row = { sale: KnownSale; buyer: Buyer }

type Sales = {
  sales: readonly Row[]
  products: readonly { productId: string; name: string }[]
  filter: {
    status: KnownSale['status'] | undefined
    provider: Provider | undefined
    product: string | undefined
    needs: 'holder' | undefined
  }
  cursor: string | undefined
  next: string | null
  ignored: IgnoredTests
}

const statuses: Record<KnownSale['status'], readonly [tone: Tone, words: string]> = {
  parked: ['bad', 'parked'],
  received: ['warn', 'being issued'],
  licensed: ['good', 'licensed'],
}

const namedStatuses = Object.entries(statuses).map(([status, [, words]]) => [status, words] as const)
const namedProviders = Provider.options.map((provider) => [provider, providerNames[provider]] as const)

const noticeWords = { quantity_exceeded: 'more than sold', plan_not_mapped: 'plan is not mapped' } as const

/** What a buyer is called in a list and at the head of a page. */
export const buyerWords = ({ customer }: KnownSale, email: string | null): string =>
  email ?? (customer === null ? 'No email address' : 'somebody erased')

function statusBadges(sale: KnownSale, { needsHolder }: Buyer): Html {
  const isRefunded = saleStanding(sale, false).unpaid !== null
  return html`<span
    >${badge(...statuses[sale.status])} ${isRefunded && badge('plain', 'money gone back')}
    ${needsHolder && badge('warn', 'needs a holder')}
    ${noticesOf(sale).map(({ code }) => badge('warn', noticeWords[code]))} ${sale.test && badge('plain', 'test')}</span
  >`
}

export function salesView(view: View, { sales, products, filter, cursor, next, ignored }: Sales): Html {
  const isFiltered = Object.values(filter).some((value) => value !== undefined)
  return html`<div>
    ${heading('Sales', 'What providers have told of, newest first. A sale that is parked was paid and has no license yet.')}
    ${filters('/dashboard/sales', 'sales', [
      select('status', 'Status', choicesOf('Any status', namedStatuses, filter.status)),
      select('provider', 'Provider', choicesOf('All providers', namedProviders, filter.provider)),
      productSelect(products, filter.product),
      select('needs', 'Holder', choicesOf('Any', [['holder', 'missing']], filter.needs)),
    ])}
    <div id="sales">
      ${sales.length === 0 ? noSales(isFiltered) : html`<div class="sheeted">${salesTable(view, sales)}</div>`}
      ${pager('/dashboard/sales', { ...filter, cursor }, next)} ${ignoredTestsPart(view, ignored)}
    </div>
  </div>`
}

const noSales = (isFiltered: boolean): Html =>
  isFiltered
    ? empty('No sale is like that', 'Choose another status, provider or product.')
    : empty(
        'No sales yet',
        'Each provider says what it still lacks before its sales arrive here.',
        html`<a href="/dashboard/integrations">See the integrations</a>`,
      )

function salesTable(view: View, sales: readonly Row[]): Html {
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
        ><span class="sub">${sale.productName}</span></span
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
  /** Of its license, once there is one. */
  displayKey: string | undefined
  story: readonly SaleEvent[]
  deliveries: readonly KnownDelivery[]
  mayReplay: boolean
}

export function saleView(view: View, one: OneSale): Html {
  const { sale, buyer, story, deliveries } = one
  return html`<div>
    ${heading(buyerWords(sale, buyer.email), html`<code>${sale.id}</code>`)} ${sale.parked && parkedBox(view, one)}
    ${buyer.needsHolder && needsHolderBox} ${noticesOf(sale).map(({ message }) => notice('warn', message))}
    ${sale.unmappedPlan !== null && one.mayReplay && replayForm(view.token, sale)}
    <div class="sheet">
      ${facts([
        ['Status', statusBadges(sale, buyer)],
        ['Sold', sale.quantity === 1 ? sale.productName : `${sale.quantity} × ${sale.productName}`],
        ['Amount', money(sale.amount, sale.currency)],
        ['Provider', providerNames[sale.provider]],
        ['Its id there', html`<code>${sale.saleId}</code>`],
        ...(sale.productId === null
          ? []
          : [
              [
                'Product',
                html`<a href=${`/dashboard/products/${sale.productId}`}>${sale.productId}</a>`,
              ] as const,
            ]),
        ['Received', moment(sale.receivedAt)],
      ])}
    </div>
    ${section('How far it has come', stages(one))}
    ${section('What happened', storyView(story, deliveries), 'Everything that was told of it and done about it, oldest first.')}
  </div>`
}

const reasons: Record<ParkedReason, string> = {
  no_mapping: 'Nothing says which product this is at the provider. Map it, then try again.',
  product_not_found: 'It is of a product that is not here. Map it to another, then try again.',
  key_type_not_found: 'It is of a key type that is not here. Map it to another, then try again.',
  quantity_not_allowed:
    'More than one was bought of a key type that is not sold in multiples. Try again: the license is for what was paid.',
  quantity_too_large:
    'More were bought than the key type sells at once. Try again: the license is for what was paid.',
  tenant_suspended: 'The workspace was suspended when it came. Try again once it no longer is.',
  tenant_closed: 'The workspace is closed.',
}

const needsHolderBox = notice(
  'warn',
  html`The provider named no email address, so nothing was mailed. Link the license to a customer with
  <code>POST /v1/customers/{id}/link-license</code>; remint it if the buyer has no key yet.`,
)

function parkedBox({ token }: View, { sale, mayReplay }: OneSale): Content {
  if (sale.parked === null) return null
  const { reason, detail } = sale.parked
  return html`<div class="stack">
    ${notice('warn', html`Parked: it is paid, and has no license yet. ${reasons[reason]} <code>${detail}</code>`)}
    ${mayReplay && replayForm(token, sale)}
  </div>`
}

const replayForm = (token: string, sale: KnownSale): Html =>
  html`<form method="post" action=${`/dashboard/sales/${sale.id}/replay`}>
    ${tokenField(token)}
    <button>Try again</button>
  </form>`

/** The five steps of a sale, each as far as it has come. */
function stages({ sale, displayKey, deliveries }: OneSale): Html {
  const mail = deliveries.find(({ channel }) => channel === 'mail')
  const webhook = deliveries.find(
    ({ channel, event }) => channel === 'webhook' && event === 'license.created',
  )
  const again = sale.duplicates === 1 ? '1 more notification' : `${sale.duplicates} more notifications`
  const rows: Content[][] = [
    ['Notification', badge('good', 'verified'), moment(sale.receivedAt)],
    [
      'Dedupe',
      sale.duplicates === 0 ? badge('good', 'told once') : badge('plain', 'ignored'),
      sale.duplicates === 0 ? 'no other notification of the same sale' : `${again} of the same sale`,
    ],
    ['License', badge(...statuses[sale.status]), licenseWords(sale, displayKey)],
    [
      'Mail',
      mail ? deliveryBadge(mail) : notYet(sale),
      mail ? deliveryLink(mail) : afterLicense(sale, 'no mail is owed'),
    ],
    [
      'Webhook',
      webhook ? deliveryBadge(webhook) : notYet(sale),
      webhook ? deliveryLink(webhook) : afterLicense(sale, 'no webhook wanted license.created'),
    ],
  ]
  return html`<div class="sheeted">
    ${table({ caption: 'Stages', columns: [{ label: 'Stage' }, { label: 'State' }, { label: 'Detail' }], rows })}
  </div>`
}

const notYet = ({ status }: KnownSale): Html =>
  status === 'licensed' ? badge('plain', 'none') : badge('plain', 'waits')

const afterLicense = ({ status }: KnownSale, words: string): string =>
  status === 'licensed' ? words : 'once there is a license'

const deliveryLink = (delivery: KnownDelivery): Html =>
  html`<a href=${`/dashboard/deliveries/${delivery.deliveryId}`}>${deliveryWords(delivery)}</a>`

function licenseWords({ licenseId, licensedAt, parked }: KnownSale, displayKey: string | undefined): Content {
  if (displayKey === undefined) return parked ? reasons[parked.reason] : 'not there yet'
  return html`<span
    ><a class="mono" href=${`/dashboard/licenses/${licenseId}`}>${displayKey}</a>${
      licensedAt !== null && html`<span class="sub">${moment(licensedAt)}</span>`
    }</span
  >`
}
