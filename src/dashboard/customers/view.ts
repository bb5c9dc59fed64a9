import type { CustomerEntry, PresentCustomer } from '../../../projections/customers.ts'
import { mostLinked } from '../../commands/customers/link-by-address.ts'
import type { ExplainedOverride } from '../../domain/customers/overrides.ts'
import { entitlementsWritten } from '../../domain/products/written-values.ts'
import type { Paid } from '../../domain/sales/totals.ts'
import { money } from '../../history/changes.ts'
import { type Content, type Html, html } from '../../html.ts'
import { counted } from '../../sentence.ts'
import type { Person } from '../../vault/subjects.ts'
import { ago, dayOf } from '../frame/moments.ts'
import type { View } from '../frame/page.ts'
import {
  badge,
  choicesOf,
  copyable,
  empty,
  facts,
  field,
  filters,
  heading,
  pager,
  section,
  select,
  sentenceList,
  table,
  tokenField,
} from '../frame/parts.ts'
import { licenseTable, type ShownLicense } from '../licenses/view.ts'
import { chosenPerson } from '../lists/lists.ts'
import { meteredUsePart, type ShownMeters } from '../metered-use/part.ts'
import { type SaleRow, salesTable } from '../sales/view.ts'
import type { ShownSeatUse } from '../seat-use/seat-use.ts'
import { seatUsePart } from '../seat-use/view.ts'
import { mergedFacts, mergePart } from './merge-view.ts'

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
                columns: [
                  { label: 'Customer' },
                  { label: 'Licenses', number: true },
                  { label: 'Created', wide: true },
                ],
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

type OneCustomer = CustomerEntry & {
  person: Person
  overrides: readonly ExplainedOverride[]
  licenses: readonly ShownLicense[]
  /** How many licenses are not shown. */
  hidden: number
  seatUse: ShownSeatUse | undefined
  meteredUse: ShownMeters
  /** The newest ones of the licenses and of the person. */
  sales: readonly SaleRow[]
  moreSales: boolean
  /** What was paid in all, by currency. */
  paid: readonly Paid[]
  /** The customers that were merged into this one. */
  merged: readonly PresentCustomer[]
  mayChange: boolean
}

export function customerView(
  view: View,
  {
    customer,
    person,
    overrides,
    licenses,
    hidden,
    seatUse,
    meteredUse,
    sales,
    moreSales,
    paid,
    merged,
    mayChange,
  }: OneCustomer,
): Html {
  const own = `${path}/${customer.customerId}`
  const to = (href: string, label: string, look = 'button second') =>
    html`<a class=${look} href=${href}>${label}</a>`
  return html`<div>
    ${heading(person.email ?? customer.customerId, copyable('customer ID', customer.customerId), mayChange && customer.erasedAt === null && [to(`/dashboard/new-license?customer=${customer.customerId}`, 'New license'), to(`${own}/edit`, 'Edit', 'button')])}
    <div class="sheet">
      ${facts([
        ['Name', person.name ?? 'not set'],
        ['Created', dayOf(customer.createdAt)],
        ...mergedFacts(customer, merged),
        paid.length > 0 && ['Paid', sentenceList(paid.map(paidWords))],
        ...Object.entries(customer.metadata),
      ])}
    </div>
    ${section(
      'Licenses',
      licenses.length === 0
        ? html`<p class="lead">No linked licenses.</p>`
        : html`<div class="sheeted">${licenseTable(view, licenses)}</div>`,
      hidden > 0 && `The newest ones. ${hidden} more are not shown.`,
    )}
    ${mayChange && html`<p class="after">${to(`${own}/links`, 'Link or unlink licenses')}</p>`}
    ${mayChange && customer.erasedAt === null && mergePart(view.token, customer)}
    ${seatUsePart(own, seatUse)} ${meteredUsePart(own, meteredUse, { customer: customer.customerId })}
    ${section(
      'Sales',
      sales.length === 0
        ? html`<p class="lead">No sales.</p>`
        : html`<div class="sheeted">${salesTable(view, sales)}</div>`,
      'The sales of the licenses above, and those to the same email address, newest first.',
    )}
    ${moreSales && html`<p class="after">${to(`/dashboard/sales?customer=${customer.customerId}`, 'Show all sales')}</p>`}
    ${section('Entitlement overrides', overridesView(overrides), 'Entitlements that this customer has or lacks regardless of the license.')}
    ${mayChange && html`<p class="after">${to(`${own}/entitlements`, 'Edit overrides')}</p>`}
  </div>`
}

const paidWords = ({ currency, paid, returned }: Paid): string =>
  returned === 0
    ? money(paid, currency)
    : `${money(paid, currency)}, of which ${money(returned, currency)} went back`

function overridesView(overrides: readonly ExplainedOverride[]): Html {
  if (overrides.length === 0) return html`<p class="lead">No overrides.</p>`
  return html`<div class="sheeted">
    ${table({
      caption: 'Entitlement overrides',
      columns: [
        { label: 'Entitlement' },
        { label: 'Effect' },
        { label: 'Product', wide: true },
        { label: 'Expires', wide: true },
        { label: 'Reason', wide: true },
      ],
      rows: overrides.map(({ entitlement, value, effect, productId, expiresAt, reason }): Content[] => [
        html`<code>${entitlementsWritten([entitlement], value === undefined ? {} : { [entitlement]: value })}</code>`,
        badge(effect === 'grant' ? 'good' : 'bad', effect === 'grant' ? 'granted' : 'revoked'),
        productId ?? 'all',
        expiresAt === undefined || expiresAt === null ? 'never' : dayOf(expiresAt),
        reason ?? '',
      ]),
    })}
  </div>`
}
