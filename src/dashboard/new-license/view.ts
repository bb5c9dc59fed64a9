import type { PresentProduct } from '../../../projections/products/queries.ts'
import { type Html, html } from '../../html.ts'
import { customerField } from '../forms/customer-field.ts'
import type { FilledForm } from '../forms/filled-form.ts'
import { checkField, choiceField, formProblem, textArea, textField } from '../forms/form-fields.ts'
import { empty, facts, heading, secretBox, tokenField } from '../frame/parts.ts'
import { soldAs } from './form.ts'

const list = '/dashboard/licenses'

type NewLicense = {
  token: string
  operation: string
  products: readonly PresentProduct[]
  form: FilledForm
}

const expiries = [
  ['key-type', "After the key type's duration"],
  ['never', 'Never'],
  ['day', 'At the end of a day (UTC)'],
] as const

/** The form of a license that is issued by hand. */
export function newLicenseView({ token, operation, products, form }: NewLicense): Html {
  const choices = products.flatMap(({ productId, name, keyTypes }) =>
    keyTypes.map((keyType) => [soldAs(productId, keyType.keyTypeId), `${name}: ${keyType.name}`] as const),
  )
  return html`<div class="narrow">
    ${heading('New license', 'Its key is shown once, on the next page.')}
    ${formProblem(form)}
    <form class="sheet stack" method="post" action=${list}>
      ${tokenField(token)}
      <input type="hidden" name="operation" value=${operation} />
      ${choiceField(form, { name: 'sold', label: 'Product and key type', choices })}
      ${textField(form, {
        name: 'email',
        label: 'Email',
        type: 'email',
        hint: 'Of the person who gets the license. Optional.',
        required: false,
        maxlength: 254,
      })}
      ${textField(form, { name: 'name', label: 'Name', required: false, maxlength: 200 })}
      ${checkField(form, {
        name: 'sendKey',
        label: 'Mail the key to the customer',
        hint: 'Needs an email address. The key is also shown on the next page.',
      })}
      ${customerField(form, {
        label: 'Customer',
        hint: 'Links the license to a customer: name, email address or customer ID. Optional.',
        required: false,
      })}
      ${choiceField(form, { name: 'expiry', label: 'Expires', choices: expiries })}
      ${textField(form, {
        name: 'expiresOn',
        label: 'Day',
        hint: 'Only for an expiry at the end of a day, for example 2027-11-21.',
        required: false,
        maxlength: 10,
      })}
      <details open=${hasMore(form)}>
        <summary>Quantity, device limit, updates and metadata</summary>
        <div class="stack more">
          ${textField(form, {
            name: 'quantity',
            label: 'Quantity',
            hint: 'Units of a key type that is sold in multiples. Leave empty for one.',
            required: false,
            inputmode: 'numeric',
            maxlength: 6,
          })}
          ${textField(form, {
            name: 'deviceLimit',
            label: 'Device limit',
            hint: "A number, or “unlimited”. Leave empty for the key type's limit.",
            required: false,
            maxlength: 9,
          })}
          ${textField(form, {
            name: 'updatesOn',
            label: 'Last day of updates (UTC)',
            hint: "It covers builds of your app until the end of that day, for example 2027-11-21. Leave empty for the key type's updates.",
            required: false,
            maxlength: 10,
          })}
          ${textArea(form, {
            name: 'metadata',
            label: 'Metadata',
            hint: html`For your own use, a pair in each line: <code>order: A-1042</code>`,
            required: false,
          })}
        </div>
      </details>
      <div class="decide">
        <button>Mint license</button>
        <a class="button second" href=${list}>Cancel</a>
      </div>
    </form>
  </div>`
}

/** Whether a field in the closed part was filled in or is wrong. */
const hasMore = ({ typed, problems }: FilledForm): boolean =>
  ['quantity', 'deviceLimit', 'updatesOn', 'metadata'].some(
    (name) => problems[name] !== undefined || typed[name]?.[0],
  )

/** Shown instead of the form while there is nothing that a license could be issued for. */
export function nothingToMintView(mayManage: boolean): Html {
  return html`<div>
    ${heading('New license')}
    ${empty(
      'No products yet',
      'A license is issued for a product.',
      mayManage && html`<a class="button" href="/dashboard/new-product">New product</a>`,
    )}
  </div>`
}

export type Minted = {
  licenseId: string
  licenseKey: string
  product: string
  keyType: string
  customerId: string | null
}

/** The key of a new license, which no other page shows. */
export function mintedView({ licenseId, licenseKey, product, keyType, customerId }: Minted): Html {
  return html`<div class="narrow">
    ${heading('License key', 'Copy the key now and give it to your customer. It is shown only once.')}
    <div class="sheet stack">
      ${secretBox('License key', licenseKey)}
      ${facts([
        ['Product', product],
        ['Key type', keyType],
      ])}
      <div class="decide">
        <a class="button" href=${`${list}/${licenseId}`}>View license</a>
        ${customerId !== null && html`<a class="button second" href=${`/dashboard/customers/${customerId}`}>Back to the customer</a>`}
        <a class="button second" href="/dashboard/new-license">New license</a>
      </div>
    </div>
  </div>`
}
