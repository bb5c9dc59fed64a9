import type { DeliveryCounts } from '../../../projections/deliveries/counts.ts'
import { newId } from '../../credentials/id.ts'
import type { Approval } from '../../gate/approvals.ts'
import { type Content, type Html, html } from '../../html.ts'
import { counted } from '../../sentence.ts'
import type { UsageSeries } from '../../usage/read.ts'
import { approvalsPart } from '../approvals/view.ts'
import { agoWords } from '../frame/moments.ts'
import type { View } from '../frame/page.ts'
import { heading, section } from '../frame/parts.ts'
import { barPlot } from '../frame/plots.ts'
import { reasonName, refusalsPath } from '../refusals/labels.ts'
import { isStarting, type StartFacts } from '../start/facts.ts'
import { dismissForm, startSteps } from '../start/view.ts'

type PendingWork = {
  deliveries: DeliveryCounts
  parkedSales: number
  /** Sales with a license that has no holder. */
  salesNeedingHolder: number
  unmatchedPayments: number
  /** Licenses with an open notice of sharing. */
  sharedLicenses: number
  /** Parked streams of this tenant. */
  parkedStreams: number
  /** Events that the read models have not applied yet. */
  behind: number
}

type Home = {
  approvals: readonly Approval[]
  mayDecide: boolean
  pendingWork: PendingWork
  usage: UsageSeries
  devices: number
  refused: RefusedToday
  start: StartFacts
}

export function homeView(view: View, home: Home): Html {
  const { approvals, mayDecide, pendingWork, usage, devices, refused, start } = home
  const watches = watched.filter(view.may)
  return html`<div>
    ${heading('Home')}
    ${
      view.may('products:read') &&
      isStarting(start) &&
      section(
        'Get started',
        html`${startSteps(view, start, newId('req'))} ${dismissForm(view)}`,
        'Once it is done, you find this checklist under Help.',
      )
    }
    ${view.may('see_requests') && section('Pending approvals', approvalsPart(view, approvals, mayDecide))}
    ${watches.length > 0 && section('Needs attention', pendingWorkView(view, readable(view, pendingWork)))}
    ${view.may('licenses:read') && refusedToday(refused)} ${view.may('usage:read') && lastDays(usage, devices)}
    ${watches.length === 0 && html`<p class="lead">Your role opens the pages in the navigation.</p>`}
  </div>`
}

/** The scopes that read what needs attention. */
const watched = ['integrations:read', 'licenses:read', 'usage:read'] as const

/** What needs attention, without what the member may not read. */
const readable = ({ may }: View, work: PendingWork): PendingWork => ({
  ...work,
  ...(!may('integrations:read') && { deliveries: { ...work.deliveries, failing: 0, abandoned: 0 } }),
  ...(!may('licenses:read') && {
    parkedSales: 0,
    salesNeedingHolder: 0,
    unmatchedPayments: 0,
    sharedLicenses: 0,
  }),
  ...(!may('usage:read') && { parkedStreams: 0, behind: 0 }),
})

const lastDays = (usage: UsageSeries, devices: number): Content =>
  section(
    'Last 30 days',
    html`<div class="stack">
        <dl class="cards">
          ${card('Validations', usage.totals.validations)} ${card('Rejected', usage.totals.rejected)}
          ${card('Activations', usage.totals.activations)} ${card('Active devices now', devices)}
        </dl>
        ${
          usage.totals.validations + usage.totals.rejected === 0
            ? html`<p class="lead">No validations yet. They appear here once your app validates a license.</p>`
            : html`${validationsPlot(usage.series, 'day')}
                <p class="lead">A server that is killed loses about the last 100 ms of counts; one that is stopped loses none.</p>`
        }
      </div>`,
  )

const card = (label: string, number: number): Html => html`<div class="card">
  <dt>${label}</dt>
  <dd class="card-number">${number.toLocaleString('en')}</dd>
</div>`

/** Validations, with the rejected ones on top. */
export function validationsPlot(series: UsageSeries['series'], by: 'day' | 'hour'): Html {
  return barPlot({
    label: by === 'day' ? 'Validations per day, rejected in red' : 'Validations per hour, rejected in red',
    by,
    bars: series.map(({ at, validations, rejected }) => ({ at, parts: [validations, rejected] })),
    kinds: [
      { className: 'bar', name: 'validated' },
      { className: 'bar-bad', name: 'rejected' },
    ],
  })
}

function pendingWorkView(view: View, pendingWork: PendingWork): Html {
  const {
    deliveries,
    parkedSales,
    salesNeedingHolder,
    unmatchedPayments,
    sharedLicenses,
    parkedStreams,
    behind,
  } = pendingWork
  const rows: Content[] = [
    deliveries.failing > 0 &&
      wait(
        'warn',
        '/dashboard/deliveries?status=pending',
        `${counted(deliveries.failing, 'delivery', 'deliveries')} failing`,
        deliveries.oldestDueAt === null
          ? 'They are retried automatically.'
          : `They are retried automatically. The oldest was due ${agoWords(deliveries.oldestDueAt, view.now)}.`,
      ),
    deliveries.abandoned > 0 &&
      wait(
        'bad',
        '/dashboard/deliveries?status=abandoned',
        `${counted(deliveries.abandoned, 'delivery', 'deliveries')} abandoned`,
        'In the last seven days. They are not retried unless you redeliver them.',
      ),
    parkedSales > 0 &&
      wait(
        'bad',
        '/dashboard/sales?status=parked',
        `${counted(parkedSales, 'sale', 'sales')} parked`,
        'Paid, but no license is issued until the missing setup is complete.',
      ),
    salesNeedingHolder > 0 &&
      wait(
        'warn',
        '/dashboard/sales?needs=holder',
        `${counted(salesNeedingHolder, 'sale', 'sales')} without a holder`,
        'Paid and licensed, but the provider sent no email address.',
      ),
    unmatchedPayments > 0 &&
      wait(
        'warn',
        '/dashboard/sales#unmatched',
        `${counted(unmatchedPayments, 'refund or dispute', 'refunds and disputes')} without a sale`,
        'The provider named a purchase that was never reported. Revoke its license if there is one.',
      ),
    sharedWait(sharedLicenses),
    parkedStreams > 0 &&
      wait(
        'bad',
        '/dashboard/system',
        `${counted(parkedStreams, 'stream', 'streams')} parked`,
        'An event could not be read. Later events of the same stream are not shown.',
      ),
    behind > 0 &&
      wait(
        'warn',
        '/dashboard/system',
        `${counted(behind, 'event', 'events')} behind`,
        'This page may be a few seconds behind.',
      ),
  ].filter(Boolean)
  if (rows.length === 0 && !watched.every(view.may))
    return html`<p class="all-well">Nothing that your role lets you read needs attention.</p>`
  if (rows.length === 0)
    return html`<p class="all-well">Nothing needs attention: deliveries succeed, sales have their licenses, and the pages are up to date.</p>`
  return html`<ul class="waits">
    ${rows}
  </ul>`
}

const sharedWait = (count: number): Content =>
  count > 0 &&
  wait(
    'warn',
    '/dashboard/licenses?shared=true',
    `${counted(count, 'license looks', 'licenses look')} shared`,
    'Used from more places, or moved more often, than the product allows, or found published.',
  )

const wait = (
  tone: 'warn' | 'bad',
  href: string,
  title: string,
  why: string,
): Html => html`<li class=${`wait ${tone}`}>
  <a href=${href}>${title}</a><span class="sub">${why}</span>
</li>`

/** The refused activations of a day by reason. */
type RefusedToday = readonly { reason: string; count: number }[]

/** `12 refused activations today: 9 seat limit, 3 unknown key`, each a link; undefined when there are none. */
function refusedToday(refused: RefusedToday): Content {
  const all = refused.reduce((sum, { count }) => sum + count, 0)
  if (all === 0) return undefined
  const parts = refused.flatMap(({ reason, count }, index): (Html | string)[] => [
    index === 0 ? ' ' : ', ',
    html`<a href=${refusalsPath({ call: 'activate', reason })}>${count.toLocaleString('en')} ${reasonName(reason)}</a>`,
  ])
  return section(
    'Refused today',
    html`<p>
      <a href=${refusalsPath({ call: 'activate' })}>${counted(all, 'refused activation', 'refused activations')}</a>${' '}
      since midnight UTC:${parts}.
    </p>`,
  )
}
