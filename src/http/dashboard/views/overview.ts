import type { Approval } from '../../../gate/approvals.ts'
import type { UsageSeries } from '../../../usage/read.ts'
import { type Html, html } from '../html.ts'
import type { View } from '../page.ts'
import { approvalsPart } from './approvals.ts'
import { dayOf } from './moments.ts'
import { empty, heading, section } from './parts.ts'

type Overview = {
  approvals: readonly Approval[]
  mayDecide: boolean
  usage: UsageSeries
  devices: number
  /** Nothing has been set up yet. */
  isNew: boolean
  mayManageTokens: boolean
}

export function overviewView(view: View, overview: Overview): Html {
  const { approvals, mayDecide, usage, devices, isNew, mayManageTokens } = overview
  return html`<div>
    ${heading('Overview')}
    ${
      isNew &&
      empty(
        'Begin with a token',
        'Make an API token, and create your first product with it. The API is described at /docs.',
        mayManageTokens && html`<a class="button" href="/dashboard/tokens/new">New token</a>`,
      )
    }
    ${section('Waiting for a decision', approvalsPart(view, approvals, mayDecide))}
    ${section(
      'The last 30 days',
      html`<div class="stack">
        <dl class="cards">
          ${card('Validations', usage.totals.validations)} ${card('Rejected', usage.totals.rejected)}
          ${card('Activations', usage.totals.activations)} ${card('Active devices now', devices)}
        </dl>
        ${
          usage.totals.validations + usage.totals.rejected === 0
            ? html`<p class="lead">No license has been validated yet. Once your app asks, the days show up here.</p>`
            : chart(usage.series)
        }
      </div>`,
    )}
  </div>`
}

const card = (label: string, number: number): Html => html`<div class="card">
  <dt>${label}</dt>
  <dd class="card-number">${number.toLocaleString('en')}</dd>
</div>`

const height = 100

/** A bar a day: validations, with what was rejected on top. */
function chart(series: UsageSeries['series']): Html {
  const most = Math.max(1, ...series.map(({ validations, rejected }) => validations + rejected))
  const bars = series.map(({ validations, rejected }, index) => {
    const good = (validations / most) * height
    const bad = (rejected / most) * height
    return html`<g>
      <rect class="bar" x=${index * 10 + 1} y=${height - good} width="8" height=${good} />
      <rect class="bar-bad" x=${index * 10 + 1} y=${height - good - bad} width="8" height=${bad} />
    </g>`
  })
  const first = series[0]?.at
  const last = series.at(-1)?.at
  return html`<figure class="card stack-tight">
    <svg
      class="chart"
      viewBox=${`0 0 ${series.length * 10} ${height}`}
      preserveAspectRatio="none"
      role="img"
      aria-label="Validations a day"
    >
      ${bars}
      <rect class="rest" x="0" y=${height - 1} width=${series.length * 10} height="1" />
    </svg>
    <figcaption class="chart-ends">
      <span>${first !== undefined && dayOf(first)}</span>
      <span>Validations a day, rejected ones in red</span>
      <span>${last !== undefined && dayOf(last)}</span>
    </figcaption>
  </figure>`
}
