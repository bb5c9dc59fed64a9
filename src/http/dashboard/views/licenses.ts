import type { HistoryEntry } from '../../../../projections/history/queries.ts'
import type { LicenseStatus } from '../../../domain/license/license.ts'
import type { ActorName } from '../../../story/actors.ts'
import { wordsOf } from '../../../story/words.ts'
import { type Content, type Html, html } from '../html.ts'
import type { View } from '../page.ts'
import { ago, moment } from './moments.ts'
import { badge, empty, facts, heading, pager, section, select, type Tone, table } from './parts.ts'

/** What a page shows of a license, as the interface for programs tells it. */
export type ShownLicense = {
  id: string
  productId: string
  keyTypeId: string
  displayKey: string
  status: LicenseStatus
  quantity: number
  deviceLimit: number | null
  seatsUsed: number
  entitlements: readonly string[]
  expiresAt: string | null
  email: string | null
  customerId: string | null
  source: string
  test: boolean
  metadata: Record<string, string>
  createdAt: string
}

const tones: Record<LicenseStatus, Tone> = {
  active: 'good',
  fallback: 'warn',
  expired: 'plain',
  revoked: 'bad',
}

const statusBadge = (status: LicenseStatus): Html => badge(tones[status], status)

const seats = ({ seatsUsed, deviceLimit }: ShownLicense): string =>
  deviceLimit === null ? `${seatsUsed}` : `${seatsUsed} of ${deviceLimit}`

type Licenses = {
  licenses: readonly ShownLicense[]
  products: readonly { productId: string; name: string }[]
  filter: { product: string | undefined; status: string | undefined }
  cursor: string | undefined
  next: string | null
}

export function licensesView(view: View, { licenses, products, filter, cursor, next }: Licenses): Html {
  const filtered = filter.product !== undefined || filter.status !== undefined
  return html`<div>
    ${heading('Licenses', 'Newest first. Keys are masked: a key is shown once, to whoever mints it.')}
    <form
      class="filters"
      method="get"
      action="/dashboard/licenses"
      hx-get="/dashboard/licenses"
      hx-trigger="change"
      hx-target="#licenses"
      hx-select="#licenses"
      hx-swap="outerHTML"
      hx-push-url="true"
    >
      ${select('product', 'Product', [
        { value: '', label: 'All products' },
        ...products.map(({ productId, name }) => ({
          value: productId,
          label: name,
          selected: productId === filter.product,
        })),
      ])}
      ${select('status', 'Status', [
        { value: '', label: 'Any status' },
        ...Object.keys(tones).map((status) => ({
          value: status,
          label: status,
          selected: status === filter.status,
        })),
      ])}
      <button class="second">Show</button>
    </form>
    <div id="licenses">
      ${
        licenses.length === 0
          ? noLicenses(view, filtered)
          : html`<div class="sheeted">${licenseTable(view, licenses)}</div>`
      }
      ${pager('/dashboard/licenses', { ...filter, cursor }, next)}
    </div>
  </div>`
}

export function licenseTable(view: View, licenses: readonly ShownLicense[]): Html {
  return table({
    caption: 'Licenses',
    columns: [
      { label: 'License' },
      { label: 'Product', wide: true },
      { label: 'Status' },
      { label: 'Devices', wide: true, number: true },
      { label: 'Issued', wide: true },
    ],
    rows: licenses.map((license): Content[] => [
      html`<span
        ><a class="mono" href=${`/dashboard/licenses/${license.id}`}>${license.displayKey}</a
        ><span class="sub">${license.email ?? 'nobody named'}</span></span
      >`,
      html`<span>${license.productId}<span class="sub">${license.keyTypeId}</span></span>`,
      html`<span>${statusBadge(license.status)} ${license.test && badge('plain', 'test')}</span>`,
      seats(license),
      ago(license.createdAt, view.now),
    ]),
  })
}

function noLicenses({ baseUrl }: View, filtered: boolean): Html {
  if (filtered)
    return empty(
      'No license is like that',
      'Choose another product or status.',
      html`<a href="/dashboard/licenses">Show all licenses</a>`,
    )
  return empty(
    'No licenses yet',
    'Mint one with an API token that has the scope licenses:write:',
    html`<pre tabindex="0">
curl ${baseUrl}/v1/licenses -H "Authorization: Bearer $TOKEN" \
  -H "Content-Type: application/json" -d '{"productId":"…"}'</pre
    >`,
  )
}

type Device = {
  deviceId: string
  name: string
  platform: string | null
  status: 'active' | 'deactivated'
  activatedAt: string
  deactivatedAt: string | null
  telemetry: { appVersion: string | null; platform: string | null; seenAt: string } | null
}

type OneLicense = {
  license: ShownLicense & { revokedAt?: string | undefined; saleId: string | null }
  devices: readonly Device[]
  history: readonly HistoryEntry[]
  nameOf: ActorName
}

export function licenseView(view: View, { license, devices, history, nameOf }: OneLicense): Html {
  return html`<div>
    ${heading(html`<span class="mono">${license.displayKey}</span>`, html`<code>${license.id}</code>`)}
    <div class="sheet">
      ${facts([
        [
          'Status',
          html`<span>${statusBadge(license.status)} ${license.test && badge('plain', 'test')}</span>`,
        ],
        ['Holder', license.email ?? 'nobody named'],
        ['Product', html`<a href=${`/dashboard/products/${license.productId}`}>${license.productId}</a>`],
        ['Key type', license.keyTypeId],
        ['Devices', seats(license)],
        ['Quantity', String(license.quantity)],
        ['Expires', license.expiresAt === null ? 'never' : moment(license.expiresAt)],
        [
          'Issued',
          html`<span>${moment(license.createdAt)}<span class="sub">by ${sourceWords(license.source)}</span></span>`,
        ],
        ...(license.revokedAt === undefined ? [] : [['Revoked', moment(license.revokedAt)] as const]),
        [
          'Customer',
          license.customerId === null
            ? 'none linked'
            : html`<a href=${`/dashboard/customers/${license.customerId}`}><code>${license.customerId}</code></a>`,
        ],
        ...(license.saleId === null ? [] : [['Sale', html`<code>${license.saleId}</code>`] as const]),
        ...Object.entries(license.metadata),
      ])}
    </div>
    ${section('What it entitles to', entitlementTags(license.entitlements))}
    ${section('Devices', devicesView(view, devices))}
    ${section('History', historyView(history, nameOf), 'Everything that ever happened to this license, newest first.')}
  </div>`
}

const sourceWords = (source: string): string =>
  ({ api: 'the API', import: 'an import', sale: 'a sale', test: 'a test purchase' })[source] ?? source

export const entitlementTags = (entitlements: readonly string[]): Html =>
  entitlements.length === 0
    ? html`<p class="lead">Nothing in particular.</p>`
    : html`<p class="tags">${entitlements.map((name) => html`<code class="badge plain">${name}</code>`)}</p>`

function devicesView(view: View, devices: readonly Device[]): Html {
  if (devices.length === 0) return html`<p class="lead">No device has been activated with it.</p>`
  return html`<div class="sheeted">
    ${table({
      caption: 'Devices',
      columns: [
        { label: 'Device' },
        { label: 'Status' },
        { label: 'Activated', wide: true },
        { label: 'App', wide: true },
      ],
      rows: devices.map((device): Content[] => [
        deviceName(device),
        badge(device.status === 'active' ? 'good' : 'plain', device.status),
        ago(device.activatedAt, view.now),
        appWords(view, device),
      ]),
    })}
  </div>`
}

function deviceName({ deviceId, name, platform, telemetry }: Device): Html {
  const on = telemetry?.platform ?? platform
  return html`<span>${name}<span class="sub"><code>${deviceId}</code>${on && `, ${on}`}</span></span>`
}

function appWords(view: View, { telemetry }: Device): Content {
  if (telemetry === null) return '–'
  return html`<span>${telemetry.appVersion ?? 'unknown'}<span class="sub">seen ${ago(telemetry.seenAt, view.now)}</span></span>`
}

function historyView(history: readonly HistoryEntry[], nameOf: ActorName): Html {
  return html`<ol class="history sheet">
    ${history.toReversed().map(
      (entry) => html`<li>
        ${moment(entry.at)}
        <div><strong>${wordsOf(entry.event, null)}</strong> by ${nameOf(entry.actor)}</div>
      </li>`,
    )}
  </ol>`
}
