import type { CustomerEntry } from '../../../projections/customers.ts'
import { mostLinked } from '../../commands/customers/link-by-address.ts'
import { type Content, type Html, html } from '../../html.ts'
import { counted } from '../../sentence.ts'
import type { Person } from '../../vault/subjects.ts'
import { ago } from '../frame/moments.ts'
import type { View } from '../frame/page.ts'
import {
  badge,
  choicesOf,
  empty,
  field,
  filters,
  heading,
  pager,
  section,
  select,
  table,
  tokenField,
} from '../frame/parts.ts'
import { chosenPerson } from '../lists/lists.ts'

type Customers = {
  customers: readonly (CustomerEntry & { person: Person })[]
  filter: { status: 'present' | 'erased' | undefined; person: string | undefined }
  /** The text that the form was sent with, and whether not all are shown; undefined for the list. */
  searched: { text: string; more: boolean } | undefined
  cursor: string | undefined
  next: string | null
  mayChange: boolean
  /** How many licenses have an address and no customer, for a member who may link them. */
  toLink: number
}

const newCustomer = html`<a class="button" href="/dashboard/new-customer">New customer</a>`

const path = '/dashboard/customers'

/** Of every list of customers. */
export const customerColumns = [
  { label: 'Customer' },
  { label: 'Licenses', number: true },
  { label: 'Created', wide: true },
]

export function customersView(view: View, page: Customers): Html {
  const { customers, filter, searched, cursor, next, mayChange, toLink } = page
  const rows = customers.map(({ customer, licenseIds, person }): Content[] => [
    html`<span
      ><a href=${`/dashboard/customers/${customer.customerId}`}>${person.email ?? customer.customerId}</a
      ><span class="sub">${person.name ?? ''}</span>${customer.mergedInto !== undefined && badge('plain', 'merged')}</span
    >`,
    licenseIds.length,
    ago(customer.createdAt, view.now),
  ])
  const isFiltered = filter.status !== undefined || filter.person !== undefined
  return html`<div>
    ${heading('Customers', 'The people and companies that licenses are linked to.', mayChange && newCustomer)}
    <form class="filters" method="post" action=${`${path}/find`}>
      ${tokenField(view.token)}
      ${field({ name: 'text', label: 'Name or email', maxlength: 400, required: false, value: searched?.text })}
      <button class="second">Find</button>
    </form>
    ${filters(path, 'customers', [
      chosenPerson(filter.person),
      select('status', 'Status', choicesOf('Any status', namedStatuses, filter.status)),
    ])}
    <div id="customers">
      ${searched && html`<p class="lead">${searched.more && customers.length > 0 && 'Not all may be shown. Type more of the name or the email address. '}<a href=${path}>Show all customers</a></p>`}
      ${filter.person !== undefined && html`<p class="lead">Showing one person. <a href=${path}>Show all customers</a></p>`}
      ${
        customers.length === 0
          ? searched
            ? noMatch(searched.more)
            : noCustomers(isFiltered, mayChange)
          : html`<div class="sheeted">
              ${table({
                caption: 'Customers',
                columns: customerColumns,
                rows,
              })}
            </div>`
      }
      ${pager(path, { ...filter, cursor }, next)}
    </div>
    ${toLink > 0 && section('Licenses without a customer', linkForm(view.token, toLink))}
  </div>`
}

const linkForm = (token: string, toLink: number): Html =>
  html`<form class="sheet stack" method="post" action=${`${path}/link-licenses`}>
    ${tokenField(token)}
    <p>
      ${counted(toLink, 'license has', 'licenses have')} an email address and no customer. Each is linked to the customer with its
      address, who is created if there is none, up to ${mostLinked} licenses at a time.
    </p>
    <div><button class="second">Link licenses</button></div>
  </form>`

const namedStatuses = [
  ['present', 'Current'],
  ['erased', 'Erased'],
] as const

const noMatch = (isTooMany: boolean): Html =>
  isTooMany
    ? empty('Too many people match', 'Type more of the name or the email address.')
    : empty('No customer found', 'Type at least three characters of the name or the email address.')

const noCustomers = (isFiltered: boolean, mayChange: boolean): Html =>
  isFiltered
    ? empty('No customers match these filters', 'Choose another status, or show all customers.')
    : empty(
        'No customers yet',
        'Create one to see all licenses of a person or a company together.',
        mayChange && newCustomer,
      )
