import { statusAt } from '../../../domain/license/license.ts'
import type { Found } from '../../../search/search.ts'
import type { Person } from '../../../vault/subjects.ts'
import { type Content, type Html, html } from '../html.ts'
import type { View } from '../page.ts'
import { statusBadge } from './licenses.ts'
import { ago } from './moments.ts'
import { badge, empty, heading, section, table, tokenField } from './parts.ts'
import { buyerWords } from './sales.ts'

/** One box for whatever a customer names. */
export const searchBox = (token: string, autofocus = false): Html => html`<form
  class="search"
  method="post"
  action="/dashboard/search"
  role="search"
>
  ${tokenField(token)}
  <label for="search">Find a license</label>
  <div class="search-row">
    <input id="search" name="text" type="text" maxlength="500" autocomplete="off" spellcheck=${false} autofocus=${autofocus} aria-describedby="search-hint" />
    <button>Search</button>
  </div>
  <p class="hint" id="search-hint">
    By a key or its ending, an e-mail address, the id of a sale, a device’s id or name, or an id of a request, a license
    or a customer. What you enter is not kept.
  </p>
</form>`

type FoundPage = {
  found: Found
  now: string
  people: Record<'ofLicenses' | 'ofSales' | 'ofCustomers', readonly Person[]>
  wasEmpty: boolean
}

export function foundView(view: View, page: FoundPage): Html {
  const { found, wasEmpty } = page
  const { licenses, devices, sales, customers, more } = found
  const nothing = licenses.length + devices.length + sales.length + customers.length === 0
  return html`<div>
    ${heading('Search')} ${searchBox(view.token, true)}
    <div role="status">
      ${
        nothing &&
        html`<div class="part">
          ${empty(
            wasEmpty ? 'Nothing was entered' : 'Nothing was found',
            'Check that it is whole. A key is found as it was issued; a device by its id or the beginning of its name.',
          )}
        </div>`
      }
      ${more && html`<p class="lead">There is more than is shown. Search for something narrower.</p>`}
    </div>
    ${licenses.length > 0 && section('Licenses', licensesFound(page))}
    ${customers.length > 0 && section('Customers', customersFound(page))}
    ${sales.length > 0 && section('Sales', salesFound(view, page))}
    ${devices.length > 0 && section('Devices', devicesFound(page))}
  </div>`
}

const sheeted = (content: Html): Html => html`<div class="sheeted">${content}</div>`

const by = { label: 'Found by', wide: true }

function licensesFound({ found, now, people }: FoundPage): Html {
  const rows = found.licenses.map(({ license, by: how }, index): Content[] => [
    html`<span
      ><a class="mono" href=${`/dashboard/licenses/${license.licenseId}`}>${license.displayKey}</a
      ><span class="sub">${people.ofLicenses[index]?.email ?? 'nobody named'}</span></span
    >`,
    license.productId,
    statusBadge(statusAt(license, now)),
    how,
  ])
  const columns = [{ label: 'License' }, { label: 'Product', wide: true }, { label: 'Status' }, by]
  return sheeted(table({ caption: 'Licenses', columns, rows }))
}

function customersFound({ found, people }: FoundPage): Html {
  const rows = found.customers.map(({ customer, by: how }, index): Content[] => [
    html`<a href=${`/dashboard/customers/${customer.customerId}`}>${people.ofCustomers[index]?.email ?? customer.customerId}</a>`,
    how,
  ])
  return sheeted(table({ caption: 'Customers', columns: [{ label: 'Customer' }, by], rows }))
}

function salesFound(view: View, { found, people }: FoundPage): Html {
  const rows = found.sales.map(({ sale, by: how }, index): Content[] => [
    html`<span
      ><a href=${`/dashboard/sales/${sale.id}`}>${buyerWords(sale, people.ofSales[index]?.email ?? null)}</a
      ><span class="sub">${sale.productName}</span></span
    >`,
    ago(sale.receivedAt, view.now),
    how,
  ])
  return sheeted(table({ caption: 'Sales', columns: [{ label: 'Sale' }, { label: 'Received' }, by], rows }))
}

function devicesFound({ found }: FoundPage): Html {
  const rows = found.devices.map(({ license, seat, by: how }): Content[] => {
    const path = `/dashboard/licenses/${license.licenseId}`
    return [
      html`<span
        ><a href=${`${path}?${new URLSearchParams({ device: seat.deviceId })}`}>${seat.name === '' ? seat.deviceId : seat.name}</a
        ><span class="sub"><code>${seat.deviceId}</code></span></span
      >`,
      html`<a class="mono" href=${path}>${license.displayKey}</a>`,
      seat.status === 'active' ? badge('good', 'in a seat') : badge('plain', 'gone'),
      how,
    ]
  })
  const columns = [{ label: 'Device' }, { label: 'License' }, { label: 'Status' }, by]
  return sheeted(table({ caption: 'Devices', columns, rows }))
}
