import type { Days } from '../../../projections/insights/days.ts'
import type { Figures } from '../../../projections/insights/figures.ts'
import { minorDigits } from '../../domain/currency.ts'
import { type Content, type Html, html } from '../../html.ts'
import type { Cell } from '../../http/csv.ts'
import { table } from '../frame/parts.ts'

/** A number with its name. */
export const card = (label: string, value: Content): Html => html`<div class="card">
  <dt>${label}</dt>
  <dd class="card-number">${value}</dd>
</div>`

export const counted = (number: number): string => number.toLocaleString('en')

/** The values of a plot as a table, and the link to the same as a file. */
export function asTable(
  options: Parameters<typeof table>[0],
  file: 'sales' | 'licenses' | 'versions' | 'trials',
  days: Days,
): Html {
  return html`<div class="stack-tight">
    <details>
      <summary>Show as a table</summary>
      <div class="sheeted" tabindex="0" role="region" aria-label=${options.caption}>${table(options)}</div>
    </details>
    ${csvLink(file, days)}
  </div>`
}

export const csvLink = (file: string, days: Days): Html =>
  html`<p>
    <a href=${`/dashboard/insights/${file}.csv?${new URLSearchParams(days)}`} download
      >Download ${file}.csv</a
    >
  </p>`

/** The tables of the page that can be downloaded, by their file name. */
export const csvTables = {
  sales: ({ sales }: Figures): Cell[][] => [
    ['day_utc', 'provider', 'product', 'currency', 'sales', 'payments', 'paid', 'returned', 'net'],
    ...sales.map(({ day, provider, productId, currency, paid, returned, ...row }) => [
      day,
      provider,
      productId,
      currency,
      row.sales,
      row.payments,
      decimal(paid, currency),
      decimal(returned, currency),
      decimal(paid - returned, currency),
    ]),
  ],
  licenses: ({ licenses }: Figures): Cell[][] => [
    ['day_utc', 'issued', 'renewed'],
    ...licenses.map(({ day, issued, renewed }) => [day, issued, renewed]),
  ],
  versions: ({ versions }: Figures): Cell[][] => [
    ['app_version', 'platform', 'devices'],
    ...versions.map(({ appVersion, platform, devices }) => [appVersion, platform, devices]),
  ],
  trials: ({ trials }: Figures): Cell[][] => [
    ['day_utc', 'started', 'licensed'],
    ...trials.map(({ day, started, converted }) => [day, started, converted]),
  ],
} as const

/** The amount in the currency's main unit, with a point: `49.00`. */
function decimal(amount: number, currency: string): string {
  const count = /^[a-z]{3}$/i.test(currency) ? minorDigits(currency) : 0
  return (amount / 10 ** count).toFixed(count)
}
