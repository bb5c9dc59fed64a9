import type { CustomerEntry } from '../../../../projections/customers/queries.ts'
import type { Person } from '../../../vault/subjects.ts'
import { type Content, type Html, html } from '../html.ts'
import type { View } from '../page.ts'
import { licenseTable, type ShownLicense } from './licenses.ts'
import { ago, dayOf } from './moments.ts'
import { badge, empty, facts, heading, pager, section, table } from './parts.ts'

type Customers = {
  customers: readonly (CustomerEntry & { person: Person })[]
  cursor: string | undefined
  next: string | null
}

export function customersView(view: View, { customers, cursor, next }: Customers): Html {
  const rows = customers.map(({ customer, licenseIds, person }): Content[] => [
    html`<span
      ><a href=${`/dashboard/customers/${customer.customerId}`}>${person.email ?? customer.customerId}</a
      ><span class="sub">${person.name ?? ''}</span></span
    >`,
    licenseIds.length,
    ago(customer.createdAt, view.now),
  ])
  return html`<div>
    ${heading('Customers', 'The people and companies that licenses are linked to.')}
    ${
      customers.length === 0
        ? empty('No customers yet', 'Programs create them with POST /v1/customers and link licenses to them.')
        : html`<div class="sheeted">
            ${table({
              caption: 'Customers',
              columns: [
                { label: 'Customer' },
                { label: 'Licenses', number: true },
                { label: 'Since', wide: true },
              ],
              rows,
            })}
          </div>`
    }
    ${pager('/dashboard/customers', { cursor }, next)}
  </div>`
}

type OneCustomer = CustomerEntry & {
  person: Person
  licenses: readonly ShownLicense[]
  /** How many more there are than are shown. */
  hidden: number
}

export function customerView(view: View, { customer, person, licenses, hidden }: OneCustomer): Html {
  return html`<div>
    ${heading(person.email ?? customer.customerId, html`<code>${customer.customerId}</code>`)}
    <div class="sheet">
      ${facts([
        ['Name', person.name ?? 'not given'],
        ['Customer since', dayOf(customer.createdAt)],
        ...Object.entries(customer.metadata),
      ])}
    </div>
    ${section(
      'Licenses',
      licenses.length === 0
        ? html`<p class="lead">None is linked.</p>`
        : html`<div class="sheeted">${licenseTable(view, licenses)}</div>`,
      hidden > 0 && `The newest ones; ${hidden} more are linked.`,
    )}
    ${section('Exceptions', overridesView(customer.overrides), 'What this customer may use besides, or may not, whatever the license says.')}
  </div>`
}

function overridesView(overrides: CustomerEntry['customer']['overrides']): Html {
  if (overrides.length === 0) return html`<p class="lead">None.</p>`
  return html`<div class="sheeted">
    ${table({
      caption: 'Exceptions',
      columns: [
        { label: 'Entitlement' },
        { label: 'Effect' },
        { label: 'Product', wide: true },
        { label: 'Until', wide: true },
        { label: 'Why', wide: true },
      ],
      rows: overrides.map(({ entitlement, effect, productId, expiresAt, reason }): Content[] => [
        html`<code>${entitlement}</code>`,
        badge(effect === 'grant' ? 'good' : 'bad', effect === 'grant' ? 'granted' : 'taken away'),
        productId ?? 'all',
        expiresAt === undefined || expiresAt === null ? 'for good' : dayOf(expiresAt),
        reason ?? '',
      ]),
    })}
  </div>`
}
