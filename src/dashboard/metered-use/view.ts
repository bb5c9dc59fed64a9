import { amountText, amountWords, drawn } from '../../domain/meters/amount.ts'
import { type Content, type Html, html } from '../../html.ts'
import type { MeteredUse } from '../../usage/read-metered.ts'
import { section, table } from '../frame/parts.ts'
import { barPlot } from '../frame/plots.ts'
import { billForm } from './bill-form.ts'
import { type MeterRangeName, meterRanges, type ShownMeteredUse } from './use.ts'

/**
 * What the licenses of a product or a customer used under their meters, and which of them used most; nothing when none was used in 400 days.
 * @param path of the page
 * @param scope of a page of one product, which is not named beside each meter
 * @param isOfProduct a page of one product does not name it beside each meter
 */
export function meteredUsePart(
  path: string,
  { name, uses, now }: ShownMeteredUse,
  scope: { product: string } | { customer: string },
): Content {
  if (uses.length === 0 && name === 'month') return undefined
  return section(
    'Metered use',
    html`<div class="stack" id="metered-use">
      ${meterRangeLinks(path, name)}
      ${uses.length === 0 && html`<p class="lead">Nothing was used in the last ${meterRanges[name].name}.</p>`}
      ${uses.map(
        (use) => html`<div class="stack-tight">
        <h3>${nameOf(use, scope)}</h3>
        ${usePlot(use, name)}
        <p class="lead">${sumWords(use, name)}</p>
        ${use.heaviest.length > 0 && heaviestTable(use)}
      </div>`,
      )}
      ${billForm(scope, now)}
    </div>`,
    'Test licenses do not count. The sums are those of the lines of the licenses, to the last digit.',
  )
}

export const meterRangeLinks = (path: string, chosen: MeterRangeName): Html => html`<div class="ranges">
  <ul aria-label="Range of metered use">
    ${Object.entries(meterRanges).map(
      ([range, { name }]) => html`<li>
        <a class="button second" href=${`${path}?used=${range}#metered-use`} aria-current=${range === chosen ? 'true' : undefined}>${name}</a>
      </li>`,
    )}
  </ul>
</div>`

function nameOf({ meter, productId }: MeteredUse, scope: object): string {
  if (productId === null)
    return 'product' in scope
      ? `${meter}, shared by licenses of customers`
      : `${meter}, shared by its licenses`
  return 'product' in scope ? meter : `${meter} of ${productId}`
}

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

const heaviestTable = ({ heaviest, meter, unit, productId }: MeteredUse): Html =>
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
