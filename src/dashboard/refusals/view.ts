import { type Content, type Html, html } from '../../html.ts'
import type { Refusal, UnknownKey } from '../../usage/read-refusals.ts'
import { callNames } from '../../usage/refusals.ts'
import { ago, utcDayOf } from '../frame/moments.ts'
import type { View } from '../frame/page.ts'
import {
  choicesOf,
  empty,
  filters,
  heading,
  pager,
  productSelect,
  section,
  select,
  table,
} from '../frame/parts.ts'
import { customerLine, keptCustomer } from '../lists/lists.ts'
import { callWords, reasonName, reasonNames } from './labels.ts'

type Refusals = {
  refusals: readonly Refusal[]
  unknownKeys: readonly UnknownKey[]
  products: readonly { productId: string; name: string }[]
  filter: Record<'product' | 'call' | 'reason' | 'customer', string | undefined>
  cursor: string | undefined
  next: string | null
}

const path = '/dashboard/refusals'

export function refusalsView(view: View, page: Refusals): Html {
  const { refusals, unknownKeys, products, filter, cursor, next } = page
  const calls = callNames.map((call) => [call, callWords[call]] as const)
  const showsLicenses = filter.reason !== 'not_found'
  const showsKeys =
    cursor === undefined &&
    filter.customer === undefined &&
    (filter.reason === undefined || filter.reason === 'not_found')
  return html`<div>
    ${heading('Refusals', 'Activations, validations and uses of meters that were refused in the last 90 days, and why.')}
    ${filters(path, 'refusals', [
      keptCustomer(filter.customer),
      productSelect(products, filter.product),
      select('call', 'Call', choicesOf('Any call', calls, filter.call)),
      select('reason', 'Reason', choicesOf('Any reason', Object.entries(reasonNames), filter.reason)),
    ])}
    <div id="refusals">
      ${customerLine(filter.customer, path, 'Show all refusals')}
      ${
        showsLicenses &&
        html`<div>
          ${refusals.length === 0 ? noRefusals(filter) : html`<div class="sheeted">${refusalsTable(view, refusals)}</div>`}
          ${pager(path, { ...filter, cursor }, next)}
        </div>`
      }
      ${
        showsKeys &&
        section(
          'Unknown keys',
          unknownKeys.length === 0
            ? html`<p class="lead">No calls with unknown keys.</p>`
            : html`<div class="sheeted">${keysTable(view, unknownKeys)}</div>`,
          'Keys that belong to no license of the product, often mistyped. Only the masked form is kept.',
        )
      }
    </div>
  </div>`
}

const noRefusals = (filter: Refusals['filter']): Html =>
  Object.values(filter).some((value) => value !== undefined)
    ? empty('No refusals match these filters', 'Choose another product, call or reason.')
    : empty('No refusals', 'Refused activations and validations of licenses appear here.')

export function refusalsTable(view: View, refusals: readonly Refusal[]): Html {
  return table({
    caption: 'Refusals',
    columns: [{ label: 'License' }, ...columns],
    rows: refusals.map((refusal): Content[] => [
      html`<span
        ><a class="mono" href=${`/dashboard/licenses/${refusal.licenseId}`}>${refusal.displayKey}</a
        ><span class="sub">${refusal.productId}</span></span
      >`,
      ...cells(view, refusal),
    ]),
  })
}

const columns = [
  { label: 'Refused' },
  { label: 'Device' },
  { label: 'App', wide: true },
  { label: 'Times', number: true },
  { label: 'Last' },
]

function cells(view: View, refusal: Refusal): Content[] {
  const { call, reason, deviceId, deviceName, count, firstSeenAt, lastSeenAt } = refusal
  return [
    html`<span>${callWords[call]}<span class="sub">${reasonName(reason)}</span></span>`,
    deviceId === '' ? 'none' : deviceWords(deviceId, deviceName),
    appWords(refusal),
    count.toLocaleString('en'),
    html`<span>${ago(lastSeenAt, view.now)}${count > 1 && html`<span class="sub">first ${ago(firstSeenAt, view.now)}</span>`}</span>`,
  ]
}

const deviceWords = (id: string, name: string | null): Html =>
  name === null || name === id
    ? html`<code>${id}</code>`
    : html`<span>${name}<span class="sub"><code>${id}</code></span></span>`

function appWords({ appVersion, sdkVersion, platform, interface: of }: Refusal): Content {
  if (of === 'runtime') return 'your server'
  const sub = [platform, sdkVersion === null ? null : `SDK ${sdkVersion}`].filter((part) => part !== null)
  return html`<span>${appVersion ?? 'unknown version'}${sub.length > 0 && html`<span class="sub">${sub.join(', ')}</span>`}</span>`
}

/** The refused calls of one license, for its page; undefined when there are none. */
export function refusalsOfLicense(view: View, refusals: readonly Refusal[]): Content {
  if (refusals.length === 0) return undefined
  return section(
    'Refused calls',
    html`<div class="sheeted">
      ${table({ caption: 'Refused calls', columns, rows: refusals.map((refusal) => cells(view, refusal)) })}
    </div>`,
    'Activations and validations that this license refused in the last 90 days, newest first.',
  )
}

function keysTable(view: View, keys: readonly UnknownKey[]): Html {
  return table({
    caption: 'Unknown keys',
    columns: [
      { label: 'Key' },
      { label: 'Day' },
      { label: 'Times', number: true },
      { label: 'Last', wide: true },
    ],
    rows: keys.map(({ displayKey, productId, day, count, lastSeenAt }): Content[] => [
      html`<span>${displayKey === '' ? 'all further keys' : html`<code>${displayKey}</code>`}<span class="sub">${productId}</span></span>`,
      utcDayOf(day),
      count.toLocaleString('en'),
      ago(lastSeenAt, view.now),
    ]),
  })
}
