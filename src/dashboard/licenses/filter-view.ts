import { licenseStatuses } from '../../domain/licenses/status.ts'
import { type Html, html } from '../../html.ts'
import { maxCustomerText } from '../forms/customer-field.ts'
import type { View } from '../frame/page.ts'
import { asNamed, choicesOf, field, filters, productSelect, select, tokenField } from '../frame/parts.ts'
import { chosenPerson, keptCustomer, personForm } from '../lists/lists.ts'
import { licenseSources, type ShownFilter } from './filter.ts'

const kinds = [
  ['false', 'not test licenses'],
  ['true', 'test licenses only'],
] as const

const sharedKinds = [
  ['true', 'licenses that look shared'],
  ['false', 'all others'],
] as const

/** The filters above the list of licenses; those that are used less often stay closed until one is used. */
export function licenseFilters(
  view: View,
  products: readonly { productId: string; name: string }[],
  { product, status, person, customer, ...more }: ShownFilter,
): Html {
  const path = '/dashboard/licenses'
  return html`<div>
    ${personForm(view, path)}
    <form id="find-customer" method="post" action=${`${path}/customer`}>${tokenField(view.token)}</form>
    ${filters(path, 'licenses', [
      chosenPerson(person),
      keptCustomer(customer),
      productSelect(products, product),
      select('status', 'Status', choicesOf('Any status', asNamed(licenseStatuses), status)),
      html`<details open=${Object.values(more).some((value) => value !== undefined)}>
        <summary>More filters</summary>
        <div class="filters">
          ${select('source', 'Source', choicesOf('Any source', asNamed(licenseSources), more.source))}
          ${select('test', 'Test licenses', choicesOf('All licenses', kinds, more.test))}
          ${select('shared', 'Key sharing', choicesOf('All licenses', sharedKinds, more.shared))}
          ${dayField('createdFrom', 'Issued on or after', more.createdFrom)}
          ${dayField('createdBefore', 'Issued before', more.createdBefore)}
          ${dayField('expiresBefore', 'Expires before', more.expiresBefore)}
          ${customerToFind}
          ${field({ name: 'metadata', label: 'Metadata, as name=value', value: more.metadata, maxlength: 1100, required: false })}
        </div>
      </details>`,
    ])}
  </div>`
}

/** Belongs to a form of its own: a URL contains a customer's id and never their name or email address. */
const customerToFind = html`<div class="field" data-customers>
    <label for="customer-to-find">Customer: name, email or ID</label>
    <input id="customer-to-find" name="text" form="find-customer" type="text" maxlength=${maxCustomerText} autocomplete="off" />
  </div>
  <button class="second" form="find-customer">Find customer</button>`

const dayField = (name: string, label: string, value: string | undefined): Html =>
  html`<div class="field">
    <label for=${name}>${label}</label>
    <input id=${name} name=${name} type="date" value=${value} />
  </div>`
