import type { ListedDevice } from '../../../projections/licenses/device-list.ts'
import type { Seat } from '../../domain/licenses/seats.ts'
import { givesSeats, type LicenseStatus, statusAt } from '../../domain/licenses/status.ts'
import { type Content, type Html, html } from '../../html.ts'
import type { Refusal } from '../../usage/read-refusals.ts'
import { ago } from '../frame/moments.ts'
import type { View } from '../frame/page.ts'
import {
  badge,
  choicesOf,
  empty,
  filters,
  heading,
  pager,
  productSelect,
  select,
  table,
} from '../frame/parts.ts'
import { customerLine, keptCustomer } from '../lists/lists.ts'
import { callWords, reasonName } from '../refusals/labels.ts'

export type ShownDevice = ListedDevice & {
  /** When it last sent something about itself; undefined for a device that never did. */
  lastSeenAt: string | undefined
  refused: Pick<Refusal, 'reason' | 'call' | 'lastSeenAt'> | undefined
}

type Devices = {
  devices: readonly ShownDevice[]
  products: readonly { productId: string; name: string }[]
  filter: {
    product: string | undefined
    status: 'active' | 'deactivated' | undefined
    customer: string | undefined
  }
  cursor: string | undefined
  next: string | null
}

const statuses = [
  ['active', 'active'],
  ['deactivated', 'deactivated'],
] as const

export function devicesView(view: View, page: Devices): Html {
  const { devices, products, filter, cursor, next } = page
  const isFiltered = Object.values(filter).some((value) => value !== undefined)
  return html`<div>
    ${heading('Devices', 'Devices activated on your licenses, most recently activated first.')}
    ${filters('/dashboard/devices', 'devices', [
      keptCustomer(filter.customer),
      productSelect(products, filter.product),
      select('status', 'Status', choicesOf('Any status', statuses, filter.status)),
    ])}
    <div id="devices">
      ${customerLine(filter.customer, '/dashboard/devices', 'Show all devices')}
      ${
        devices.length === 0
          ? noDevices(isFiltered)
          : html`<div class="sheeted">${devicesTable(view, devices)}</div>`
      }
      ${pager('/dashboard/devices', { ...filter, cursor }, next)}
    </div>
  </div>`
}

const noDevices = (isFiltered: boolean): Html =>
  isFiltered
    ? empty('No devices match these filters', 'Choose another product or status.')
    : empty('No devices yet', 'Devices appear here once an app activates a license.')

export function devicesTable(view: View, devices: readonly ShownDevice[]): Html {
  return table({
    caption: 'Devices',
    columns: [
      { label: 'Device' },
      { label: 'License' },
      { label: 'Status' },
      { label: 'Activated', wide: true },
      { label: 'Last seen', wide: true },
      { label: 'Last refused', wide: true },
    ],
    rows: devices.map(({ seat, license, lastSeenAt, refused }): Content[] => {
      const path = `/dashboard/licenses/${license.licenseId}`
      return [
        html`<span
          ><a href=${`${path}?${new URLSearchParams({ device: seat.deviceId })}`}>${seat.name === '' ? seat.deviceId : seat.name}</a
          ><span class="sub"><code>${seat.deviceId}</code>${seat.platform === null ? '' : `, ${seat.platform}`}</span></span
        >`,
        html`<span><a class="mono" href=${path}>${license.displayKey}</a><span class="sub">${license.productId}</span></span>`,
        deviceBadge(seat, statusAt(license, view.now.toISOString())),
        ago(seat.activatedAt, view.now),
        lastSeenAt === undefined ? 'not reported' : ago(lastSeenAt, view.now),
        refusedWords(view, refused),
      ]
    }),
  })
}

const refusedWords = (view: View, refused: ShownDevice['refused']): Content =>
  refused === undefined
    ? 'never'
    : html`<span>${ago(refused.lastSeenAt, view.now)}<span class="sub">${callWords[refused.call]}: ${reasonName(refused.reason)}</span></span>`

/** A device is shown as active only while its license is valid. */
export function deviceBadge({ status }: Pick<Seat, 'status'>, ofLicense: LicenseStatus): Html {
  if (status === 'deactivated') return badge('plain', 'deactivated')
  return givesSeats(ofLicense) ? badge('good', 'active') : badge('warn', `license ${ofLicense}`)
}
