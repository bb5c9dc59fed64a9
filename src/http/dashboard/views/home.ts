import type { WaitingDeliveries } from '../../../../projections/deliveries/waiting.ts'
import type { Approval } from '../../../gate/approvals.ts'
import { counted } from '../../../gate/words.ts'
import type { UsageSeries } from '../../../usage/read.ts'
import { type Content, type Html, html } from '../html.ts'
import type { View } from '../page.ts'
import { approvalsPart } from './approvals.ts'
import { agoWords } from './moments.ts'
import { empty, heading, section } from './parts.ts'
import { barPlot } from './plots.ts'
import { searchBox } from './search.ts'

type Waits = {
  deliveries: WaitingDeliveries
  parkedSales: number
  /** Licensed, and without anybody who holds the license. */
  salesNeedingHolder: number
  /** Streams of this tenant that are set aside. */
  parkedStreams: number
  /** Events that the read models have not taken in. */
  behind: number
}

type Home = {
  approvals: readonly Approval[]
  mayDecide: boolean
  waits: Waits
  usage: UsageSeries
  devices: number
  /** Nothing has been set up yet. */
  isNew: boolean
  mayManageTokens: boolean
}

export function homeView(view: View, home: Home): Html {
  const { approvals, mayDecide, waits, usage, devices, isNew, mayManageTokens } = home
  return html`<div>
    ${heading('Home')} ${searchBox(view.token)}
    ${
      isNew &&
      empty(
        'Begin with a token',
        'Make an API token, and create your first product with it. The API is described at /docs.',
        mayManageTokens && html`<a class="button" href="/dashboard/tokens/new">New token</a>`,
      )
    }
    ${section('Waiting for a decision', approvalsPart(view, approvals, mayDecide))}
    ${section('Waiting for a look', waitsView(view, waits))}
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
            : validationsPlot(usage.series, 'day')
        }
      </div>`,
    )}
  </div>`
}

const card = (label: string, number: number): Html => html`<div class="card">
  <dt>${label}</dt>
  <dd class="card-number">${number.toLocaleString('en')}</dd>
</div>`

/** Validations, with what was rejected on top. */
export function validationsPlot(series: UsageSeries['series'], by: 'day' | 'hour'): Html {
  return barPlot({
    label:
      by === 'day' ? 'Validations a day, rejected ones in red' : 'Validations an hour, rejected ones in red',
    by,
    bars: series.map(({ at, validations, rejected }) => ({ at, parts: [validations, rejected] })),
    kinds: [
      { className: 'bar', name: 'validated' },
      { className: 'bar-bad', name: 'rejected' },
    ],
  })
}

function waitsView(view: View, waits: Waits): Html {
  const { deliveries, parkedSales, salesNeedingHolder, parkedStreams, behind } = waits
  const rows: Content[] = [
    deliveries.failing > 0 &&
      wait(
        'warn',
        '/dashboard/deliveries?status=pending',
        `${counted(deliveries.failing, 'delivery', 'deliveries')} failing`,
        deliveries.oldestDueAt === null
          ? 'Failed attempts; they are retried automatically.'
          : `Failed attempts; the oldest was due ${agoWords(deliveries.oldestDueAt, view.now)}.`,
      ),
    deliveries.abandoned > 0 &&
      wait(
        'bad',
        '/dashboard/deliveries?status=abandoned',
        `${counted(deliveries.abandoned, 'delivery', 'deliveries')} given up`,
        'In the last seven days. Nobody tries again unless somebody asks for it.',
      ),
    parkedSales > 0 &&
      wait(
        'bad',
        '/dashboard/sales?status=parked',
        `${counted(parkedSales, 'sale', 'sales')} parked`,
        'Paid, and without a license until what is missing is set up.',
      ),
    salesNeedingHolder > 0 &&
      wait(
        'warn',
        '/dashboard/sales?needs=holder',
        `${counted(salesNeedingHolder, 'sale', 'sales')} without a holder`,
        'Paid and licensed, but the provider named no email address.',
      ),
    parkedStreams > 0 &&
      wait(
        'bad',
        '/dashboard/system',
        `${counted(parkedStreams, 'history', 'histories')} set aside`,
        'An event could not be read; what follows it is not shown.',
      ),
    behind > 0 &&
      wait(
        'warn',
        '/dashboard/system',
        `${counted(behind, 'event', 'events')} behind`,
        'The pages show a little less than what has happened.',
      ),
  ].filter(Boolean)
  if (rows.length === 0)
    return html`<p class="all-well">Nothing. Deliveries arrive, sales have their licenses, and the pages are up to date.</p>`
  return html`<ul class="waits">
    ${rows}
  </ul>`
}

const wait = (
  tone: 'warn' | 'bad',
  href: string,
  title: string,
  why: string,
): Html => html`<li class=${`wait ${tone}`}>
  <a href=${href}>${title}</a><span class="sub">${why}</span>
</li>`
