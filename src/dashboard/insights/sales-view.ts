import type { SaleDay } from '../../../projections/insights/queries.ts'
import { providerNames } from '../../domain/integrations/provider.ts'
import { money } from '../../history/changes.ts'
import { type Content, type Html, html } from '../../html.ts'
import { utcDayOf } from '../frame/moments.ts'
import { empty, section, table } from '../frame/parts.ts'
import { barPlot } from '../frame/plots.ts'
import { type Insights, sumOf } from './insights.ts'
import { asTable, card, counted } from './parts.ts'

/** Sales and revenue: each currency for itself, since amounts of two currencies do not add up. */
export function salesPart(insights: Insights): Html {
  const { sales } = insights.figures
  const lead =
    'Each payment counts on its day. A refund or a lost dispute lowers the revenue of the day of its payment.'
  if (sales.length === 0) {
    return section(
      'Sales and revenue',
      empty(
        'No sales in these days',
        'Sales appear here once a connected payment provider reports them.',
        html`<a href="/dashboard/integrations">View integrations</a>`,
      ),
    )
  }
  const currencies = [...new Set(sales.map(({ currency }) => currency))].sort()
  return section(
    'Sales and revenue',
    html`<div class="stack">
      ${currencies.map((currency) =>
        currencyPart(
          insights,
          currency,
          sales.filter((row) => row.currency === currency),
        ),
      )}
      ${bySeller(insights)} ${byDay(insights)}
    </div>`,
    lead,
  )
}

function currencyPart({ range }: Insights, currency: string, rows: readonly SaleDay[]): Html {
  const sum = sumOf(rows)
  const name = currency.toUpperCase()
  const days = Map.groupBy(rows, ({ day }) => day)
  const bars = range.all.map((day) => ({ at: day, ...sumOf(days.get(day) ?? []) }))
  const shown = (amount: number) => money(amount, currency)
  return html`<div class="stack">
    <dl class="cards">
      ${card(`Revenue in ${name}`, shown(sum.paid - sum.returned))} ${card(`Refunded in ${name}`, shown(sum.returned))}
      ${card(`Sales in ${name}`, counted(sum.sales))} ${card(`Renewal payments in ${name}`, counted(sum.payments - sum.sales))}
    </dl>
    <div class="plots">
      ${barPlot({
        label: `Revenue in ${name} per day, refunds in red`,
        by: 'day',
        bars: bars.map(({ at, paid, returned }) => ({ at, parts: [paid - returned, returned] })),
        kinds: [
          { className: 'bar', name: 'revenue' },
          { className: 'bar-bad', name: 'refunded' },
        ],
        format: shown,
      })}
      ${barPlot({
        label: `Sales in ${name} per day, renewal payments in gray`,
        by: 'day',
        bars: bars.map(({ at, sales, payments }) => ({ at, parts: [sales, payments - sales] })),
        kinds: [
          { className: 'bar', name: 'sales' },
          { className: 'bar-soft', name: 'renewal payments' },
        ],
      })}
    </div>
  </div>`
}

const productName = ({ products }: Insights, productId: string | null): string =>
  productId === null
    ? 'Not mapped to a product'
    : (products.find((product) => product.productId === productId)?.name ?? productId)

const providerName = (provider: string): string =>
  (providerNames as Readonly<Record<string, string>>)[provider] ?? provider

const amountColumns = [
  { label: 'Sales', number: true },
  { label: 'Payments', number: true, wide: true },
  { label: 'Paid', number: true, wide: true },
  { label: 'Refunded', number: true, wide: true },
  { label: 'Revenue', number: true },
]

function amounts(rows: readonly SaleDay[], currency: string): Content[] {
  const { sales, payments, paid, returned } = sumOf(rows)
  const shown = [paid, returned, paid - returned].map((amount) => money(amount, currency))
  return [counted(sales), counted(payments), ...shown]
}

/** One row for each product, provider and currency, the largest revenue of each currency first. */
function bySeller(insights: Insights): Html {
  const groups = Map.groupBy(insights.figures.sales, ({ productId, provider, currency }) =>
    JSON.stringify([currency, productId, provider]),
  )
  const revenue = (rows: readonly SaleDay[]) => sumOf(rows).paid - sumOf(rows).returned
  const rows = [...groups.values()].sort(
    (a, b) => (a[0]?.currency ?? '').localeCompare(b[0]?.currency ?? '') || revenue(b) - revenue(a),
  )
  return html`<div class="sheeted">
    ${table({
      caption: 'Sales by product and provider',
      columns: [{ label: 'Product' }, { label: 'Provider' }, ...amountColumns],
      rows: rows.map((of) => [
        productName(insights, of[0]?.productId ?? null),
        providerName(of[0]?.provider ?? ''),
        ...amounts(of, of[0]?.currency ?? ''),
      ]),
    })}
  </div>`
}

function byDay(insights: Insights): Html {
  const { figures, range } = insights
  return asTable(
    {
      caption: 'Sales by day, product, provider and currency',
      columns: [{ label: 'Day' }, { label: 'Product' }, { label: 'Provider', wide: true }, ...amountColumns],
      rows: figures.sales.map((row) => [
        utcDayOf(row.day),
        productName(insights, row.productId),
        providerName(row.provider),
        ...amounts([row], row.currency),
      ]),
    },
    'sales',
    range.days,
  )
}
