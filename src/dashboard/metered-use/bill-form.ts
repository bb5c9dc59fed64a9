import { type Html, html } from '../../html.ts'
import { select } from '../frame/parts.ts'

/** Months that can be chosen, the present one included. */
const months = 14

const monthName = new Intl.DateTimeFormat('en', { month: 'long', year: 'numeric', timeZone: 'UTC' })

/** The start of the month that is so many before the present one. */
const monthBefore = (now: Date, before: number): Date =>
  new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - before, 1))

/** Downloads what a license, a product or a customer used in a month as CSV. @param scope a parameter and its value */
export function billForm(scope: Readonly<Record<string, string>>, now: Date): Html {
  const choices = Array.from({ length: months }, (_, before) => {
    const start = monthBefore(now, before)
    return { value: start.toISOString().slice(0, 7), label: monthName.format(start) }
  })
  return html`<form class="inline-form" method="get" action="/dashboard/metered-use.csv">
    ${Object.entries(scope).map(([name, value]) => html`<input type="hidden" name=${name} value=${value} />`)}
    ${select('month', 'Recorded in (UTC)', choices)}
    ${select('of', 'Rows', [
      { value: 'totals', label: 'Sums of each meter and period' },
      { value: 'lines', label: 'Each line' },
    ])}
    <button class="second">Download CSV</button>
  </form>`
}
