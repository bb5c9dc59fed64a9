import type { Days } from '../../../projections/insights/days.ts'
import { type Content, type Html, html } from '../../html.ts'
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
