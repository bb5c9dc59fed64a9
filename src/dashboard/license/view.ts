import type { KnownDelivery } from '../../domain/deliveries/delivery.ts'
import { providerNames } from '../../domain/integrations/provider.ts'
import type { KnownSale } from '../../domain/sales/sale.ts'
import { money } from '../../history/changes.ts'
import type { Comparison } from '../../history/compare.ts'
import type { LicenseHistoryEntry } from '../../history/entries.ts'
import { failureWarnings } from '../../history/sale-warnings.ts'
import { undatedEnd } from '../../history/sentences.ts'
import { type Content, type Html, html } from '../../html.ts'
import type { Refusal } from '../../usage/read-refusals.ts'
import type { PlacesOfDay } from '../../usage/sharing.ts'
import type { Explanation } from '../../verdicts/explain.ts'
import { deliveryBadge, deliveryWords, mailWords } from '../deliveries/view.ts'
import { deviceBadge } from '../devices/view.ts'
import { ago, moment } from '../frame/moments.ts'
import type { View } from '../frame/page.ts'
import { badge, copyable, facts, heading, notice, section, table } from '../frame/parts.ts'
import { entitlementTags, type ShownLicense, statusBadge } from '../licenses/view.ts'
import { meteredUsePart, type ShownMeters } from '../metered-use/part.ts'
import { proofWords } from '../proofs/license-view.ts'
import type { EventProof } from '../proofs/log-route.ts'
import { refusalsOfLicense } from '../refusals/view.ts'
import { itemWords } from '../sales/items-view.ts'
import type { ShownSeatUse, WhatIf } from '../seat-use/seat-use.ts'
import { seatUsePart } from '../seat-use/view.ts'
import { momentSlider } from './moment-slider.ts'
import { relaysPart, type ShownRelay } from './relays.ts'
import { seatsPicture } from './seats.ts'
import { placesPart } from './sharing.ts'
import { arrow, changed, type Timeline, timeline } from './timeline.ts'
import { verdictView } from './verdict.ts'

type Device = {
  deviceId: string
  name: string
  platform: string | null
  status: 'active' | 'deactivated'
  activatedAt: string
  deactivatedAt: string | null
  telemetry: { appVersion: string | null; platform: string | null; seenAt: string } | null
}

/** The moment and the device in the URL of a license's page. */
type Question = { asOf: string | undefined; device: string | undefined }

export type OneLicense = {
  question: Question
  /** Its present or past state. */
  license: ShownLicense & {
    revokedAt?: string | undefined
    suspendedAt?: string | undefined
    sharingNoticedAt?: string | undefined
    sharingAllowed?: true | undefined
    updatesUntil?: string | undefined
    saleId: string | null
  }
  devices: readonly Device[]
  /** None for a past state. */
  places?: readonly PlacesOfDay[]
  relays: readonly ShownRelay[]
  /** What the customer called their devices, by device. */
  givenNames: ReadonlyMap<string, string>
  explanation: Explanation
  /** The event that the page shows the state after, with its summary; undefined for the present. */
  stop: LicenseHistoryEntry | undefined
  /** The sequence of its last event. */
  last: number
  comparison: Comparison | undefined
  history: Pick<Timeline, 'entries' | 'recorded'> & { older: number | undefined; isFirst: boolean }
  sale: KnownSale | undefined
  deliveries: readonly KnownDelivery[]
  /** None for a past state: refusals have no history. */
  refusals: readonly Refusal[]
  /** The actions that the role may request. */
  actions: readonly { name: string; label: string; ofDevice: boolean }[]
  /** The changes that the role may make. */
  changes: readonly { name: string; label: string }[]
  /** Of floating seats, those in use over time; undefined for a past state. */
  seatUse?: ShownSeatUse | undefined
  whatIf?: WhatIf
  /** What it used under its meters; undefined for a past state. */
  meters: ShownMeters | undefined
  /** Whether the last event is in the signed log. */
  proof: EventProof
  /** Whether the role may free seats; false for a past state. */
  freesSeats: boolean
}

const pathOf = (id: string): string => `/dashboard/licenses/${id}`

function address(id: string, query: Record<string, string | undefined>): string {
  const given = Object.entries(query).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]]))
  return given.length === 0 ? pathOf(id) : `${pathOf(id)}?${new URLSearchParams(given)}`
}

export function licenseView(view: View, one: OneLicense): Html {
  const { license, question, history, stop } = one
  const { id } = license
  const isPast = question.asOf !== undefined || one.comparison !== undefined
  const timeTravel = timeTravelPart(one)
  const asOfEvent = (sequence: number) => address(id, { ...question, asOf: String(sequence) })
  return html`<div>
    ${heading(html`<span class="mono">${license.displayKey}</span>`, html`${license.email ?? 'No email address'}, ${copyable('license ID', id)}`, actionsOf(one))}
    ${momentPart(one)}
    ${isPast && timeTravel}
    ${!isPast && changesPart(one)}
    ${statePart(view, one)}
    <div class="beside history-column">
      ${section('History', html`<div>${timeline({ ...history, chosen: stop?.sequence, addressOf: asOfEvent })}${pages(id, history)}</div>`)}
      <div>${saleBox(one)}${deliveriesBox(view, one)}
        <p class="part"><a href=${`/dashboard/audit?target=${id}`}>Audit log of this license</a></p>
        ${section('Proof', html`<p>${proofWords(one.proof)}. <a href=${`${pathOf(id)}/proofs`}>Proofs of each event</a></p>`)}
      </div>
    </div>
    ${!isPast && timeTravel}
  </div>`
}

/** What the member may change at once, and what they may ask for. Nothing of a past state. */
function changesPart({ license, question, changes, actions }: OneLicense): Content {
  if (changes.length === 0 && actions.length === 0) return null
  const device = new URLSearchParams({ device: question.device ?? '' })
  return html`<nav class="part changes-bar" aria-label="Change this license">
    ${changes.map(
      ({ name, label }) =>
        html`<a class="button second" href=${`${pathOf(license.id)}/change/${name}`}>${label}</a>`,
    )}
    ${actions.map(
      ({ name, label, ofDevice }) =>
        html`<a class="button second" href=${`${pathOf(license.id)}/do/${name}${ofDevice ? `?${device}` : ''}`}>${label}</a>`,
    )}
  </nav>`
}

/** The past is collapsed beneath the present; a page of the past begins with it. */
function timeTravelPart(one: OneLicense): Html {
  const { license, question, comparison, last, stop } = one
  const asOfEvent = (sequence: number) => address(license.id, { ...question, asOf: String(sequence) })
  const isOpen = question.asOf !== undefined || comparison !== undefined
  return html`<details class="part" open=${isOpen}>
    <summary>Point in time</summary>
    <p class="lead">Shows the license as it was, and compares two moments. The page address includes the moment, so you can share it.</p>
    ${momentSlider({ path: pathOf(license.id), last, chosen: stop?.sequence, device: question.device, addressOf: asOfEvent })}
    ${comparison && section('Comparison', comparisonView(comparison, asOfEvent))}
  </details>`
}

/** Every member can download the evidence. */
const actionsOf = ({ license }: OneLicense): Content =>
  html`<a class="button second" href=${`${pathOf(license.id)}/evidence`} download>Download evidence</a>`

/** Updated by the slider together with `statePart`: the answers of the license at one moment. */
function momentPart(one: OneLicense): Html {
  const { license, explanation, question } = one
  const { id } = license
  return html`<div id="moment">
    ${question.asOf !== undefined && html`<div aria-live="polite">${notice('info', thenWords(one))}</div>`}
    ${verdictView({
      explanation,
      asOf: question.asOf,
      addressOf: (device) => address(id, { ...question, device }),
      eventAddress: (sequence) => eventAddress(one, sequence),
    })}
    ${deviceQuestion(one)}
  </div>`
}

/** The state of the license at that moment. */
function statePart(view: View, one: OneLicense): Html {
  const { license, explanation, question } = one
  return html`<div id="state">
    <div class="beside">
      ${section(
        'Seats',
        html`<div class="sheet">
          ${seatsPicture(
            {
              ...explanation.seats,
              atRelays: seatsAtRelays(one),
              ofQuestion: question.device,
              givenNames: one.givenNames,
              at: explanation.at,
            },
            (device) => address(license.id, { ...question, device }),
            one.freesSeats &&
              ((device) => `${pathOf(license.id)}/change/free-seat?${new URLSearchParams({ device })}`),
          )}
          ${explanation.seats.devices !== undefined && html`<p class="seats-more"><a href=${`${pathOf(license.id)}/people`}>People with seats</a></p>`}
          ${isFull(one) && html`<p class="seats-more"><a href=${`${pathOf(license.id)}/change/edit#deviceLimit`}>Raise the device limit</a></p>`}
        </div>`,
      )}
      ${section(question.asOf === undefined ? 'Details' : 'Details at this moment', factsView(one))}
    </div>
    ${relaysPart(one.relays)}
    ${meteredUsePart(pathOf(license.id), one.meters, { license: license.id })}
    ${seatUsePart(pathOf(license.id), one.seatUse, one.whatIf)}
    ${refusalsOfLicense(view, one.refusals)} ${placesPart(one.places ?? [])} ${devicesPart(view, one)}
  </div>`
}

/** Whether a member who may raise the limit sees the reason to. */
const isFull = (one: OneLicense): boolean => {
  const { used, limit } = one.explanation.seats
  return (
    limit !== null && used + seatsAtRelays(one) >= limit && one.changes.some(({ name }) => name === 'edit')
  )
}

const seatsAtRelays = ({ relays }: OneLicense): number =>
  relays.reduce((sum, { seatsTaken }) => sum + seatsTaken, 0)

/** The event's anchor on this page, or on the page of the history that begins with it. */
function eventAddress({ license, question, history }: OneLicense, sequence: number): string {
  const isHere = history.entries.some((entry) => entry.sequence === sequence)
  const page = isHere ? '' : address(license.id, { ...question, upTo: String(sequence) })
  return `${page}#event-${sequence}`
}

function thenWords({ license, explanation, stop, last }: OneLicense): Content {
  const { at, sequence } = explanation
  return html`<span
    >As it was at ${moment(at)}, after event ${sequence} of ${last}${stop && html`: ${stop.summary}`}.${' '}<a href=${pathOf(license.id)}>Back to the present</a></span
  >`
}

/** Selects a device, to show what validate and activate would return for it. */
function deviceQuestion({ license, question }: OneLicense): Html {
  return html`<form class="inline-form device-question" method="get" action=${pathOf(license.id)}>
    ${question.asOf !== undefined && html`<input type="hidden" name="asOf" value=${question.asOf} />`}
    <div class="field">
      <label for="device">Device ID</label>
      <input id="device" name="device" value=${question.device ?? ''} maxlength="256" autocomplete="off" />
    </div>
    <button class="second">Check device</button>
    ${question.device !== undefined && html`<a href=${address(license.id, { asOf: question.asOf })}>Clear device</a>`}
  </form>`
}

function factsView({ license }: OneLicense): Html {
  return html`<div class="sheet">
    ${facts([
      ['Status', html`<span>${statusBadge(license.status)} ${license.test && badge('plain', 'test')}</span>`],
      ['Product', html`<a href=${`/dashboard/products/${license.productId}`}>${license.productId}</a>`],
      ['Key type', license.keyTypeId],
      ['Quantity', String(license.quantity)],
      ['Expires', license.expiresAt === null ? undatedEnd(license.startsWith) : moment(license.expiresAt)],
      ...(license.graceUntil === undefined ? [] : [['Grace until', moment(license.graceUntil)] as const]),
      ...(license.updatesUntil === undefined
        ? []
        : [['Updates until', moment(license.updatesUntil)] as const]),
      [
        'Issued',
        html`<span>${moment(license.createdAt)}<span class="sub">via ${sourceWords(license.source)}</span></span>`,
      ],
      ...(license.suspendedAt === undefined ? [] : [['Suspended', moment(license.suspendedAt)] as const]),
      ...(license.sharingNoticedAt === undefined
        ? []
        : [['Looks shared', moment(license.sharingNoticedAt)] as const]),
      ...(license.sharingAllowed ? [['Key sharing', 'allowed as it is'] as const] : []),
      ...(license.revokedAt === undefined ? [] : [['Revoked', moment(license.revokedAt)] as const]),
      [
        'Customer',
        license.customerId === null
          ? 'none'
          : html`<a href=${`/dashboard/customers/${license.customerId}`}><code>${license.customerId}</code></a>`,
      ],
      ...Object.entries(license.metadata),
      ['Entitlements', entitlementTags(license.entitlements, license.entitlementValues)],
    ])}
  </div>`
}

const sourceWords = (source: string): string =>
  ({ api: 'API', import: 'import', sale: 'sale', test: 'test purchase' })[source] ?? source

/** All devices, also deactivated ones, collapsed: the picture shows the active ones. */
function devicesPart(view: View, { license, question, devices }: OneLicense): Content {
  if (devices.length === 0) return null
  return html`<details class="part">
    <summary>All devices ever activated (${devices.length.toLocaleString('en')})</summary>
    <div class="sheeted">
      ${table({
        caption: 'Devices',
        columns: [
          { label: 'Device' },
          { label: 'Status' },
          { label: 'Activated', wide: true },
          { label: 'App', wide: true },
        ],
        rows: devices.map((device): Content[] => [
          html`<span
            ><a href=${address(license.id, { ...question, device: device.deviceId })}>${device.name}</a
            ><span class="sub"><code>${device.deviceId}</code>${platformOf(device)}</span></span
          >`,
          deviceBadge(device, license.status),
          ago(device.activatedAt, view.now),
          appWords(view, device),
        ]),
      })}
    </div>
  </details>`
}

function platformOf({ platform, telemetry }: Device): string {
  const on = telemetry?.platform ?? platform
  return on === null ? '' : `, ${on}`
}

function appWords(view: View, { telemetry }: Device): Content {
  if (telemetry === null) return '–'
  return html`<span>${telemetry.appVersion ?? 'unknown'}<span class="sub">last seen ${ago(telemetry.seenAt, view.now)}</span></span>`
}

function pages(id: string, { older, isFirst }: OneLicense['history']): Content {
  if (isFirst && older === undefined) return null
  return html`<nav class="pager" aria-label="History pages">
    ${!isFirst && html`<a href=${pathOf(id)}>Back to newest</a>`}
    ${older !== undefined && html`<a href=${address(id, { upTo: String(older - 1) })} rel="next">Older</a>`}
  </nav>`
}

function saleBox({ sale }: OneLicense): Content {
  if (!sale) return section('Sale', html`<p class="lead">This license was not issued for a sale.</p>`)
  return section(
    'Sale',
    html`<div class="sheet stack-tight">
      <p>
        <a href=${`/dashboard/sales/${sale.id}`}>${itemWords(sale)}</a>${' '}
        for ${money(sale.amount, sale.currency)}
      </p>
      <p class="sub">${providerNames[sale.provider]}, ${moment(sale.receivedAt)}</p>
      <p class="sub"><code>${sale.saleId}</code></p>
      ${failureWarnings(sale).map(({ message }) => notice('warn', message))}
    </div>`,
  )
}

function deliveriesBox(view: View, { deliveries }: OneLicense): Html {
  return section(
    'Deliveries',
    deliveries.length === 0
      ? html`<p class="lead">No deliveries for this license.</p>`
      : html`<ul class="sheet stack-tight">
          ${deliveries.map(
            (delivery) => html`<li>
              <a href=${`/dashboard/deliveries/${delivery.deliveryId}`}>${delivery.channel === 'mail' ? mailWords(delivery) : delivery.event}</a>
              ${deliveryBadge(delivery)}
              <span class="sub">${deliveryWords(delivery)}, ${ago(delivery.scheduledAt, view.now)}</span>
            </li>`,
          )}
        </ul>`,
  )
}

/** The differences of a license between two moments. */
function comparisonView(
  { from, to, changes, devices }: Comparison,
  addressOf: (sequence: number) => string,
): Html {
  const side = ({ sequence, at }: Comparison['from']): Html =>
    html`<span><a href=${addressOf(sequence)}>after event ${sequence}</a>, ${moment(at)}</span>`
  const nothing = changes.length === 0 && devices.length === 0
  return html`<div class="sheet stack">
    <p>${arrow(side(from), side(to))}</p>
    ${nothing && html`<p class="lead">No differences.</p>`}
    ${changes.length > 0 && html`<ul class="changes">${changes.map(changed)}</ul>`}
    ${
      devices.length > 0 &&
      table({
        caption: 'Changed devices',
        columns: [{ label: 'Device' }, { label: 'Before' }, { label: 'After' }],
        rows: devices.map(({ deviceId, name, before, after }): Content[] => [
          html`<span>${name}<span class="sub"><code>${deviceId}</code></span></span>`,
          before ?? 'not present',
          after ?? 'not present',
        ]),
      })
    }
  </div>`
}
