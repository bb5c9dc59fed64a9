import { licenseStatuses } from '../../domain/licenses/license.ts'
import { type Html, html } from '../../html.ts'
import type { View } from '../frame/page.ts'
import { asNamed, choicesOf, field, filters, productSelect, select } from '../frame/parts.ts'
import { chosenPerson, personForm } from '../lists/person-filter.ts'
import { licenseSources, type ShownFilter } from './filter.ts'

const kinds = [
  ['false', 'not test licenses'],
  ['true', 'test licenses only'],
] as const

/** The filters above the list of licenses; those that are used less often stay closed until one is used. */
export function licenseFilters(
  view: View,
  products: readonly { productId: string; name: string }[],
  { product, status, person, ...more }: ShownFilter,
): Html {
  const path = '/dashboard/licenses'
  return html`<div>
    ${personForm(view, path)}
    ${filters(path, 'licenses', [
      chosenPerson(person),
      productSelect(products, product),
      select('status', 'Status', choicesOf('Any status', asNamed(licenseStatuses), status)),
      html`<details open=${Object.values(more).some((value) => value !== undefined)}>
        <summary>More filters</summary>
        <div class="filters">
          ${select('source', 'Source', choicesOf('Any source', asNamed(licenseSources), more.source))}
          ${select('test', 'Test licenses', choicesOf('All licenses', kinds, more.test))}
          ${dayField('createdFrom', 'Issued on or after', more.createdFrom)}
          ${dayField('createdBefore', 'Issued before', more.createdBefore)}
          ${dayField('expiresBefore', 'Expires before', more.expiresBefore)}
          ${field({ name: 'customer', label: 'Customer ID', value: more.customer, maxlength: 64, required: false })}
          ${field({ name: 'metadata', label: 'Metadata, as name=value', value: more.metadata, maxlength: 1100, required: false })}
        </div>
      </details>`,
    ])}
  </div>`
}

const dayField = (name: string, label: string, value: string | undefined): Html =>
  html`<div class="field">
    <label for=${name}>${label}</label>
    <input id=${name} name=${name} type="date" value=${value} />
  </div>`
