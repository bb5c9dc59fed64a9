import type { HistoryEntry } from '../../../projections/history/queries.ts'
import { happeningInWords } from '../../history/actors.ts'
import type { Change } from '../../history/changes.ts'
import type { LicenseHistoryEntry } from '../../history/entries.ts'
import { type Content, type Html, html } from '../../html.ts'
import { clockOf, moment, utcDayOf } from '../frame/moments.ts'
import { badge } from '../frame/parts.ts'

export type Timeline = {
  entries: readonly LicenseHistoryEntry[]
  /** The same events as recorded. */
  recorded: readonly HistoryEntry[]
  /** The event that the page shows the state after. */
  chosen: number | undefined
  /** The URL of the page as of an event. */
  addressOf: (sequence: number) => string
}

/** The history by day, newest first: each event with its summary, its changes and its recorded form. */
export function timeline({ entries, recorded, chosen, addressOf }: Timeline): Html {
  const raw = new Map(recorded.map((entry) => [entry.revision, entry]))
  const days = Map.groupBy(entries, ({ time }) => time.slice(0, 10))
  return html`<div class="timeline">
    ${[...days].map(
      ([day, of]) => html`<section class="day">
        <h3>${utcDayOf(day)}</h3>
        <ol>
          ${of.map((entry) => eventItem(entry, raw.get(entry.sequence), entry.sequence === chosen, addressOf))}
        </ol>
      </section>`,
    )}
  </div>`
}

function eventItem(
  entry: LicenseHistoryEntry,
  raw: HistoryEntry | undefined,
  isChosen: boolean,
  addressOf: Timeline['addressOf'],
): Html {
  const { sequence, time, changes, requestId } = entry
  const { what, by } = happeningInWords(entry)
  return html`<li class=${isChosen ? 'event chosen' : 'event'} id=${`event-${sequence}`}>
    <p class="event-time">${clockOf(time)}</p>
    <div class="event-body">
      <p><strong>${what}</strong> ${by && html`<span class="by">${by}</span>`}</p>
      ${changes.length > 0 && html`<ul class="changes">${changes.map(sequence === 0 ? initial : changed)}</ul>`} ${linksOf(entry)}
      <details>
        <summary>Event ${sequence}</summary>
        <p class="sub">Request <code>${requestId}</code></p>
        ${raw && html`<pre tabindex="0">${JSON.stringify(raw, null, 2)}</pre>`}
      </details>
    </div>
    <p class="event-then"><a href=${addressOf(sequence)} aria-label=${`View the license as it was after event ${sequence}`}>View</a></p>
  </li>`
}

const fieldWords: Record<Change['field'], string> = {
  status: 'Status',
  displayKey: 'Key',
  keyTypeId: 'Key type',
  quantity: 'Quantity',
  expiresAt: 'Expires',
  startsWith: 'From the first activation',
  deviceLimit: 'Seats',
  seatsUsed: 'Seats in use',
  customerId: 'Customer',
  refundedAt: 'Refunded',
  updatesUntil: 'Updates until',
  metadata: 'Metadata',
  device: 'Device',
  email: 'Email address',
  name: 'Name',
}

export const changed = ({ field, before, after }: Change): Html =>
  html`<li><span class="change-field">${fieldWords[field]}</span> ${arrow(shown(field, before), shown(field, after))}</li>`

/** A change by the first event, which has no value before it. */
const initial = ({ field, after }: Change): Html =>
  html`<li><span class="change-field">${fieldWords[field]}</span> ${shown(field, after)}</li>`

/** `before → after`, also in words for screen readers. */
export const arrow = (before: Content, after: Content): Html =>
  html`<span>${before} <span aria-label="became">→</span> ${after}</span>`

function shown(field: Change['field'], value: string | number | null): Content {
  if (field === 'expiresAt') return typeof value === 'string' ? moment(value) : 'never'
  if (field === 'updatesUntil') return typeof value === 'string' ? moment(value) : 'every build'
  if (field === 'refundedAt') return typeof value === 'string' ? moment(value) : 'no'
  if (field === 'deviceLimit') return value ?? 'unlimited'
  return value ?? 'none'
}

const deliveryTones = { pending: 'warn', delivered: 'good', abandoned: 'bad' } as const

/** Links to related pages. */
function linksOf({ links }: LicenseHistoryEntry): Content {
  const { saleId, customerId, confirmationId, deliveries } = links
  const all: Content[] = [
    saleId !== null && html`<li><a href=${`/dashboard/sales/${saleId}`}>sale</a></li>`,
    customerId !== null && html`<li><a href=${`/dashboard/customers/${customerId}`}>customer</a></li>`,
    confirmationId !== null &&
      html`<li><a href=${`/dashboard/approvals/${confirmationId}`}>approval</a></li>`,
    ...deliveries.map(
      ({ id, channel, status }) =>
        html`<li><a href=${`/dashboard/deliveries/${id}`}>${channel === 'mail' ? 'email' : 'webhook'}</a> ${badge(deliveryTones[status], status)}</li>`,
    ),
  ].filter(Boolean)
  return all.length > 0 && html`<ul class="event-links" aria-label="Related">${all}</ul>`
}
