import { statusAt } from '../../domain/licenses/status.ts'
import { type Content, type Html, html } from '../../html.ts'
import type { Found } from '../../search/search.ts'
import { counted } from '../../sentence.ts'
import type { RefusedUnknownKey } from '../../usage/read-refusals.ts'
import type { Person } from '../../vault/subjects.ts'
import { deviceBadge } from '../devices/view.ts'
import { ago, moment } from '../frame/moments.ts'
import type { View } from '../frame/page.ts'
import { empty, heading, section, table } from '../frame/parts.ts'
import { statusBadge } from '../licenses/view.ts'
import { refusalsPath } from '../refusals/labels.ts'
import { itemName } from '../sales/items-view.ts'
import { buyerWords } from '../sales/view.ts'

/** The field that matched, in words. The audit log records `e-mail`. */
export const foundByWords = (by: string): string => by.replace('e-mail', 'email').replace(/ id$/, ' ID')

type FoundPage = {
  found: Found
  now: string
  people: Record<'ofLicenses' | 'ofSales' | 'ofCustomers', readonly Person[]>
  /** Refused calls with a key of the form of the searched text. */
  unknown: readonly RefusedUnknownKey[]
  wasEmpty: boolean
}

export function foundView(view: View, page: FoundPage): Html {
  const { found, unknown, wasEmpty } = page
  const { licenses, devices, sales, customers, more } = found
  const nothing = licenses.length + devices.length + sales.length + customers.length === 0
  return html`<div>
    ${heading(
      'Search',
      'By license key or its ending, any part of a name or an email address, order number or sale ID, device ID or name, request ID, license ID or customer ID. Your input is not stored.',
    )}
    <div role="status">
      ${
        nothing &&
        html`<div class="part">
          ${empty(
            wasEmpty ? 'No search term' : more ? 'Too many results' : 'No results',
            more
              ? 'Type more of the name, the email address or the number.'
              : 'Enter a license key exactly as it was issued, at least three characters of a name or an email address, or at least four of an order number or a sale ID. Devices are found by their ID or name, or by how it begins.',
          )}
        </div>`
      }
      ${unknown.length > 0 && refusedKey(view, unknown)}
      ${more && !nothing && html`<p class="lead">Not all results may be shown. Type more to narrow your search.</p>`}
    </div>
    ${licenses.map(formerKey)}
    ${licenses.length > 0 && section('Licenses', licensesFound(page))}
    ${customers.length > 0 && section('Customers', customersFound(page))}
    ${sales.length > 0 && section('Sales', salesFound(view, page))}
    ${devices.length > 0 && section('Devices', devicesFound(page))}
  </div>`
}

const personWords = (person: Person | undefined): string =>
  [person?.name, person?.email].filter(Boolean).join(', ') || 'No email address'

/** Keys with the same masked form are not told apart, so the sentence names the form. */
const refusedKey = (view: View, unknown: FoundPage['unknown']): Html => html`<div class="part stack-tight">
  ${unknown.map(
    ({ displayKey, productId, count, firstSeenAt, lastSeenAt }) => html`<p>
      No license has this key. A key shown as <code>${displayKey}</code> was refused ${counted(count, 'time', 'times')} for <a href=${refusalsPath({ product: productId, reason: 'not_found' })}>${productId}</a>${' '}
      since ${moment(firstSeenAt)}, last ${ago(lastSeenAt, view.now)}. It may be mistyped, or belong to another product.
    </p>`,
  )}
</div>`

/** What a searched key is answered that its license no longer has. */
function formerKey({ license, by: how, keyStatus }: Found['licenses'][number]): Content {
  if (how !== 'former key') return null
  return html`<section class="verdict bad">
    <h2>Would this key validate now?</h2>
    <p class="verdict-word">${keyStatus === undefined ? 'Unknown' : html`No <code>${keyStatus}</code>`}</p>
    <p>
      ${
        keyStatus === undefined
          ? 'The state of the license cannot be read right now. Try again.'
          : html`It was replaced by another key of${' '}
              <a href=${`/dashboard/licenses/${license.licenseId}`}>the license ${license.displayKey}</a>. The customer
              needs the new key.`
      }
    </p>
  </section>`
}

const sheeted = (content: Html): Html => html`<div class="sheeted">${content}</div>`

const by = { label: 'Found by', wide: true }

function licensesFound({ found, now, people }: FoundPage): Html {
  const rows = found.licenses.map(({ license, by: how }, index): Content[] => [
    html`<span
      ><a class="mono" href=${`/dashboard/licenses/${license.licenseId}`}>${license.displayKey}</a
      ><span class="sub">${personWords(people.ofLicenses[index])}</span></span
    >`,
    license.productId,
    statusBadge(statusAt(license, now)),
    foundByWords(how),
  ])
  const columns = [{ label: 'License' }, { label: 'Product', wide: true }, { label: 'Status' }, by]
  return sheeted(table({ caption: 'Licenses', columns, rows }))
}

function customersFound({ found, people }: FoundPage): Html {
  const rows = found.customers.map(({ customer, by: how }, index): Content[] => [
    html`<a href=${`/dashboard/customers/${customer.customerId}`}>${people.ofCustomers[index]?.email ?? customer.customerId}</a>`,
    foundByWords(how),
  ])
  return sheeted(table({ caption: 'Customers', columns: [{ label: 'Customer' }, by], rows }))
}

function salesFound(view: View, { found, people }: FoundPage): Html {
  const rows = found.sales.map(({ sale, by: how }, index): Content[] => [
    html`<span
      ><a href=${`/dashboard/sales/${sale.id}`}>${buyerWords(sale, people.ofSales[index]?.email ?? null)}</a
      ><span class="sub">${itemName(sale)}</span></span
    >`,
    ago(sale.receivedAt, view.now),
    foundByWords(how),
  ])
  return sheeted(table({ caption: 'Sales', columns: [{ label: 'Sale' }, { label: 'Received' }, by], rows }))
}

function devicesFound({ now, found }: FoundPage): Html {
  const rows = found.devices.map(({ license, seat, by: how }): Content[] => {
    const path = `/dashboard/licenses/${license.licenseId}`
    return [
      html`<span
        ><a href=${`${path}?${new URLSearchParams({ device: seat.deviceId })}`}>${seat.name === '' ? seat.deviceId : seat.name}</a
        ><span class="sub"><code>${seat.deviceId}</code></span></span
      >`,
      html`<a class="mono" href=${path}>${license.displayKey}</a>`,
      deviceBadge(seat, statusAt(license, now)),
      foundByWords(how),
    ]
  })
  const columns = [{ label: 'Device' }, { label: 'License' }, { label: 'Status' }, by]
  return sheeted(table({ caption: 'Devices', columns, rows }))
}
