import type { DeliveryCounts } from '../../../projections/deliveries/counts.ts'
import type { TenantParkedStream } from '../../../projections/runner/parked.ts'
import type { LastRebuild } from '../../../projections/runner/rebuild.ts'
import type { ProjectionStatus } from '../../../projections/runner/status.ts'
import type { KeyState } from '../../domain/signing/signing.ts'
import { type Content, type Html, html } from '../../html.ts'
import type { PartHealth } from '../../http/health.ts'
import type { LimitUse } from '../../limits/limit-use.ts'
import type { LimitName } from '../../limits/limits.ts'
import { counted } from '../../sentence.ts'
import type { HitsOfHour } from '../../usage/limit-hits.ts'
import type { UsageSeries } from '../../usage/read.ts'
import { ago, agoWords } from '../frame/moments.ts'
import type { View } from '../frame/page.ts'
import { badge, facts, heading, section, table } from '../frame/parts.ts'
import { barPlot } from '../frame/plots.ts'
import { validationsPlot } from '../home/view.ts'

export type ReadModelsShown = {
  /** Undefined when the event store does not respond. */
  status: ProjectionStatus | undefined
  /** The parked streams of all tenants, and those of this tenant. */
  parked: number
  own: TenantParkedStream[]
  /** The position that a running rebuild has reached. */
  rebuilding: bigint | undefined
  lastRebuild: LastRebuild | undefined
}

export type NamedLimit = LimitUse & { who: string }

export type SignInShown = {
  who: string
  at: string
  address: string | null
  userAgent: string | null
  lastSeenAt: string
  isOver: boolean
}

type Hour = { at: string; delivered: number; pending: number; abandoned: number }

type System = {
  parts: Record<string, PartHealth>
  readModels: ReadModelsShown
  deliveries: { waiting: DeliveryCounts; hours: readonly Hour[] }
  activity: UsageSeries['series']
  signingKeys: readonly KeyState[]
  limits: readonly NamedLimit[]
  limitHits: readonly HitsOfHour[]
  /** Undefined for members who may not see them. */
  signIns: readonly SignInShown[] | undefined
}

export function systemView(view: View, system: System): Html {
  const { parts, readModels, deliveries, activity, signingKeys, limits, limitHits, signIns } = system
  return html`<div>
    ${heading('System', 'Figures cover this workspace. Health covers the whole installation.', html`<a class="button second" href="/dashboard/system/proof">Provable history</a>`)}
    ${section('Health', html`<ul class="healths">${Object.entries(parts).map(([name, part]) => health(name, part))}</ul>`)}
    ${section('Read models', readModelsPart(view, readModels), 'Pages and API responses are read from them. Events of the log are applied to them in order.')}
    ${section('Last 48 hours', html`<div class="plots">${validationsPlot(activity, 'hour')}${deliveriesPlot(deliveries.hours)}</div>`)}
    ${section('Deliveries', deliveriesFacts(view, deliveries.waiting), 'Pending deliveries are stored in the ledger. NATS, if configured, carries copies.')}
    ${section('Signing keys', keysTable(view, signingKeys))}
    ${section('Rate limits', limitsTable(limits), 'Current use of each rate limit. Requests over a limit get 429 with Retry-After.')}
    ${section('Rate limit hits in the last 7 days', hitsPlot(limitHits), 'Requests of this workspace that got 429. Hits of per-address limits are not included: they belong to no workspace.')}
    ${signIns && section('Sign-ins', signInsTable(view, signIns), 'Recent sign-ins, newest first.')}
  </div>`
}

const partNames: Record<string, string> = {
  event_store: 'Event store',
  postgres: 'Postgres',
  read_models: 'Read models',
  nats: 'NATS',
  clock: 'Clocks',
  notary: 'Notary',
}

const health = (name: string, { ok, required, detail }: PartHealth): Html => html`<li class="health">
  <span>${partNames[name] ?? name}</span> ${
    name === 'clock'
      ? clocksBadge(ok, detail)
      : ok
        ? badge('good', 'up')
        : badge(required ? 'bad' : 'warn', 'down')
  }
  ${detail !== undefined && html`<span class="sub">${detail}</span>`}
</li>`

/** The badge depends on the difference of the clocks, because a clock always responds. */
const clocksBadge = (ok: boolean, detail: string | undefined): Html =>
  detail === undefined ? badge('good', 'in sync') : badge(ok ? 'warn' : 'bad', 'out of sync')

/** Updates itself during a rebuild, with JavaScript. */
export function readModelsPart(view: View, shown: ReadModelsShown): Html {
  const { status, parked, own, rebuilding } = shown
  return html`<div
    id="read-models"
    class="sheet stack"
    hx-get="/dashboard/system"
    hx-trigger=${rebuilding === undefined ? 'every 10s' : 'every 2s'}
    hx-swap="outerHTML"
  >
    ${facts([
      ['Position', status ? Number(status.checkpoint).toLocaleString('en') : 'unknown'],
      ['Log head', status ? Number(status.head).toLocaleString('en') : 'the event store is not responding'],
      ['Lag', status ? behindWords(view, status) : 'unknown'],
      ['Parked streams', parked === 0 ? badge('good', 'none') : badge('bad', parked.toLocaleString('en'))],
      ['Rebuild', rebuildWords(view, shown)],
    ])}
    ${
      rebuilding !== undefined &&
      status &&
      html`<progress max="100" value=${percent(rebuilding, status.head)} aria-label="Rebuild"></progress>`
    }
    ${own.length > 0 && parkedTable(view, own)}
    <p class="sub">
      The read models are shared by all workspaces. An operator rebuilds them on the host with${' '}
      <code>keyledger projections rebuild</code>.
    </p>
  </div>`
}

function behindWords(
  view: View,
  { lagEvents, behindSince }: NonNullable<ReadModelsShown['status']>,
): Content {
  if (lagEvents === 0) return badge('good', 'none')
  const events = lagEvents >= 1000 ? '1,000 events or more' : counted(lagEvents, 'event', 'events')
  return html`<span>${badge('warn', events)}${behindSince !== null && html`<span class="sub">since ${agoSeconds(view, behindSince)}</span>`}</span>`
}

const agoSeconds = ({ now }: View, at: string): string =>
  `${Math.max(0, (now.getTime() - Date.parse(at)) / 1000).toFixed(1)} s`

const percent = (position: bigint, head: string): number =>
  BigInt(head) <= 0n ? 100 : Number((position * 100n) / BigInt(head))

function rebuildWords(view: View, { rebuilding, status, lastRebuild }: ReadModelsShown): Content {
  if (rebuilding !== undefined) return status ? `running, ${percent(rebuilding, status.head)} %` : 'running'
  return html`<span>not running${lastRebuild && html`<span class="sub">${lastWords(view, lastRebuild)}</span>`}</span>`
}

function lastWords({ now }: View, { startedAt, endedAt, events, problem }: LastRebuild): Html {
  if (endedAt === null)
    return html`last rebuild: started ${ago(startedAt, now)} and was interrupted; nothing was changed`
  if (problem !== null)
    return html`last rebuild: failed ${ago(endedAt, now)}: ${problem}; nothing was changed`
  const seconds = ((Date.parse(endedAt) - Date.parse(startedAt)) / 1000).toFixed(1)
  return html`last rebuild: finished ${ago(endedAt, now)}, ${counted(events ?? 0, 'event', 'events')} in ${seconds} s`
}

const parkedTable = (view: View, own: ReadModelsShown['own']): Html =>
  table({
    caption: 'Parked streams of this workspace',
    columns: [
      { label: 'Stream' },
      { label: 'Event' },
      { label: 'Problem', wide: true },
      { label: 'Since', wide: true },
    ],
    rows: own.map(({ stream, type, problem, parkedAt }): Content[] => [
      html`<code>${stream}</code>`,
      type,
      problem,
      ago(parkedAt, view.now),
    ]),
  })

const deliveriesPlot = (hours: readonly Hour[]): Html =>
  barPlot({
    label: 'Deliveries per hour, abandoned in red',
    by: 'hour',
    bars: hours.map(({ at, delivered, pending, abandoned }) => ({
      at,
      parts: [delivered, pending, abandoned],
    })),
    kinds: [
      { className: 'bar', name: 'delivered' },
      { className: 'bar-soft', name: 'pending' },
      { className: 'bar-bad', name: 'abandoned' },
    ],
  })

function deliveriesFacts(
  view: View,
  { pending, failing, due, oldestDueAt, abandoned }: DeliveryCounts,
): Html {
  const link = (count: number, status: string) =>
    count === 0
      ? '0'
      : html`<a href=${`/dashboard/deliveries?status=${status}`}>${count.toLocaleString('en')}</a>`
  return html`<div class="sheet">
    ${facts([
      ['Pending', link(pending, 'pending')],
      ['Failed attempts', failing.toLocaleString('en')],
      ['Due now', due.toLocaleString('en')],
      ['Oldest due', oldestDueAt === null ? 'none' : agoWords(oldestDueAt, view.now)],
      ['Abandoned in the last 7 days', link(abandoned, 'abandoned')],
    ])}
  </div>`
}

const keyWords: Record<KeyState['status'], Html> = {
  next: badge('plain', 'next'),
  signing: badge('good', 'signing'),
  retiring: badge('plain', 'retiring'),
  retired: badge('plain', 'retired'),
}

function keysTable({ now }: View, keys: readonly KeyState[]): Html {
  if (keys.length === 0)
    return html`<p class="lead">No signing keys yet. The first one is created on the first request from an app.</p>`
  return html`<div class="sheeted">
    ${table({
      caption: 'Signing keys',
      columns: [
        { label: 'Key' },
        { label: 'Status' },
        { label: 'Age', number: true },
        { label: 'Signs from', wide: true },
      ],
      rows: keys.map(({ kid, status, signsFrom }): Content[] => [
        html`<code>${kid}</code>`,
        keyWords[status],
        signsFrom === null || signsFrom > now.toISOString()
          ? '–'
          : counted(daysSince(signsFrom, now), 'day', 'days'),
        signsFrom === null ? 'Its rotation' : ago(signsFrom, now),
      ]),
    })}
  </div>`
}

const daysSince = (at: string, now: Date): number => Math.floor((now.getTime() - Date.parse(at)) / 86_400_000)

const limitNames: Partial<Record<LimitName, string>> = {
  management: 'Management API',
  runtime: 'Runtime API',
  clientTenant: 'Client API',
  clientNewInstances: 'New anonymous instances',
  checkout: 'Checkouts',
  evidence: 'Evidence archives',
}

/** Rates are kept per minute; one that is set per hour is rarely a whole number of them. */
const rateWords = ({ perMinute }: NamedLimit['rate']): string =>
  Number.isInteger(perMinute)
    ? `${perMinute.toLocaleString('en')} per minute`
    : `${Math.round(perMinute * 60).toLocaleString('en')} per hour`

function limitsTable(limits: readonly NamedLimit[]): Html {
  if (limits.length === 0) return html`<p class="lead">No rate limits are configured on this server.</p>`
  return html`<div class="sheeted">
    ${table({
      caption: 'Rate limits',
      columns: [{ label: 'Limit' }, { label: 'Rate', wide: true, number: true }, { label: 'Used' }],
      rows: limits.map(({ name, who, rate, share }): Content[] => [
        html`<span>${limitNames[name] ?? name}<span class="sub">${who}</span></span>`,
        rateWords(rate),
        html`<span class="spent"
          ><meter min="0" max="100" high="80" value=${Math.round(share * 100)} aria-label=${`${limitNames[name] ?? name}, ${who}`}></meter>
          ${Math.round(share * 100)} %${share >= 1 && html` ${badge('bad', 'hit')}`}</span
        >`,
      ]),
    })}
  </div>`
}

const hitsPlot = (hours: readonly HitsOfHour[]): Html =>
  barPlot({
    label: '429 responses per hour: management in gray, runtime in color, apps in red',
    by: 'hour',
    bars: hours.map(({ at, hits: { management = 0, checkout = 0, evidence = 0, runtime = 0, ...apps } }) => ({
      at,
      parts: [
        management + checkout + evidence,
        runtime,
        (apps.clientTenant ?? 0) + (apps.clientInstance ?? 0) + (apps.clientNewInstances ?? 0),
      ],
    })),
    kinds: [
      { className: 'bar-soft', name: 'management, checkout and evidence' },
      { className: 'bar', name: 'runtime' },
      { className: 'bar-bad', name: 'apps' },
    ],
  })

function signInsTable(view: View, signIns: readonly SignInShown[]): Html {
  if (signIns.length === 0) return html`<p class="lead">No recent sign-ins.</p>`
  return html`<div class="sheeted">
    ${table({
      caption: 'Sign-ins',
      columns: [
        { label: 'Member' },
        { label: 'Time' },
        { label: 'IP address', wide: true },
        { label: 'Session', wide: true },
      ],
      rows: signIns.map(({ who, at, address, userAgent, lastSeenAt, isOver }): Content[] => [
        who,
        ago(at, view.now),
        address === null
          ? '–'
          : html`<span><code>${address}</code><span class="sub">${userAgent}</span></span>`,
        isOver ? badge('plain', 'ended') : html`<span>last seen ${ago(lastSeenAt, view.now)}</span>`,
      ]),
    })}
  </div>`
}
