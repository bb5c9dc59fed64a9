import { amountText, amountWords, drawn } from '../../domain/meters/amount.ts'
import { type Content, type Html, html } from '../../html.ts'
import type { MeteredUse } from '../../usage/read-metered.ts'
import { table } from '../frame/parts.ts'
import { barPlot } from '../frame/plots.ts'
import { type MeterRangeName, meterRanges } from './use.ts'

export const meterRangeLinks = (path: string, chosen: MeterRangeName): Html => html`<div class="ranges">
  <ul aria-label="Range of metered use">
    ${Object.entries(meterRanges).map(
      ([range, { name }]) => html`<li>
        <a class="button second" href=${`${path}?used=${range}#metered-use`} aria-current=${range === chosen ? 'true' : undefined}>${name}</a>
      </li>`,
    )}
  </ul>
</div>`

/** One bar for each hour or day. Where more was corrected than used, there is none, and a mark says so. */
export const usePlot = ({ meter, unit, points }: MeteredUse, name: MeterRangeName): Html =>
  barPlot({
    label: `${meter}: ${unit} by ${meterRanges[name].bar}${points.some(({ overage }) => overage > 0n) ? '; beyond what is included and prepaid in red' : ''}`,
    by: meterRanges[name].bar,
    bars: points.map(({ at, used, overage }) => {
      const beyond = drawn(overage < 0n ? 0n : overage > used ? (used < 0n ? 0n : used) : overage)
      return {
        at,
        parts: [Math.max(0, drawn(used) - beyond), beyond],
        ...(used < 0n && { mark: `${amountWords(amountText(used))} by corrections` }),
      }
    }),
    kinds: [
      { className: 'bar', name: unit },
      { className: 'bar-bad', name: 'beyond' },
    ],
    format: (value) => value.toLocaleString('en', { maximumFractionDigits: 6 }),
  })

export const sumWords = ({ used, overage, unit }: MeteredUse, name: MeterRangeName): string => {
  const beyond = overage > 0n ? `, ${amountWords(amountText(overage))} of them beyond` : ''
  return `${amountWords(amountText(used))} ${unit}${beyond} in the last ${meterRanges[name].name}.`
}

/** The licenses that used most. */
export const heaviestTable = ({ heaviest, meter, unit, productId }: MeteredUse): Html =>
  html`<div class="sheeted">
    ${table({
      caption: `Licenses that used most ${unit} under ${meter}`,
      columns: [
        { label: 'License' },
        { label: `Used (${unit})`, number: true },
        { label: 'Beyond', number: true, wide: true },
      ],
      rows: heaviest.map(({ licenseId, used, overage }): Content[] => [
        html`<a href=${`/dashboard/licenses/${licenseId}#metered-use`}><code>${licenseId}</code></a>`,
        productId === null
          ? amountWords(amountText(used))
          : html`<a href=${`/dashboard/licenses/${licenseId}/meters/${meter}`} aria-label=${`Lines of ${meter} of ${licenseId}`}>${amountWords(amountText(used))}</a>`,
        amountWords(amountText(overage)),
      ]),
    })}
  </div>`
