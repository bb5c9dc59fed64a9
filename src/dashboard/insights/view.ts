import { type Html, html } from '../../html.ts'
import type { View } from '../frame/page.ts'
import { heading, notice } from '../frame/parts.ts'
import type { Insights } from './insights.ts'
import { licensesPart, trialsPart, versionsPart } from './licenses-view.ts'
import { type ChosenRange, lengths } from './range.ts'
import { salesPart } from './sales-view.ts'

/** The page of figures. */
export function insightsView(_view: View, insights: Insights): Html {
  return html`<div class="figures">
    ${heading('Insights', 'Days are in UTC. Test purchases and test licenses do not count.')}
    ${rangeForm(insights.range)} ${salesPart(insights)} ${licensesPart(insights)} ${versionsPart(insights)}
    ${trialsPart(insights)}
  </div>`
}

function rangeForm({ days, length, problem }: ChosenRange): Html {
  return html`<div class="stack">
    ${problem !== undefined && notice('wrong', problem)}
    <div class="ranges">
      <ul aria-label="Range">
        ${lengths.map(
          (one) => html`<li>
            <a class="button second" href=${`/dashboard/insights?days=${one}`} aria-current=${one === length ? 'true' : undefined}
              >${one} days</a
            >
          </li>`,
        )}
      </ul>
      <form method="get" action="/dashboard/insights">
        <div class="field">
          <label for="from">From</label>
          <input id="from" name="from" type="date" value=${days.from} />
        </div>
        <div class="field">
          <label for="to">To</label>
          <input id="to" name="to" type="date" value=${days.to} />
        </div>
        <button class="second">Show</button>
      </form>
    </div>
  </div>`
}
