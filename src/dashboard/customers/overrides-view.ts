import { type Html, html } from '../../html.ts'
import { type FilledForm, typedIn } from '../forms/filled-form.ts'
import { choiceField, formProblem, textField } from '../forms/form-fields.ts'
import { heading, tokenField } from '../frame/parts.ts'
import { fieldIn, rowsOf } from './overrides-form.ts'

type OverridesForm = {
  token: string
  customerId: string
  products: readonly { productId: string; name: string }[]
  form: FilledForm
}

const effects = [
  ['grant', 'Granted'],
  ['revoke', 'Revoked'],
] as const

/** All overrides of a customer, a group of fields each. */
export function overridesView({ token, customerId, products, form }: OverridesForm): Html {
  const own = `/dashboard/customers/${customerId}`
  const choices = [
    ['', 'All products'] as const,
    ...products.map(({ productId, name }) => [productId, name] as const),
  ]
  const override = (row: number): Html => html`<fieldset class="sheet override">
    <legend class="unseen">${`Override ${row + 1}`}</legend>
    ${textField(form, {
      name: fieldIn('entitlement', row),
      label: 'Entitlement',
      required: false,
      maxlength: 64,
      className: 'mono',
    })}
    ${choiceField(form, { name: fieldIn('effect', row), label: 'Effect', choices: effects })}
    ${choiceField(form, { name: fieldIn('product', row), label: 'Product', choices })}
    ${textField(form, {
      name: fieldIn('expiresOn', row),
      label: 'Ends after the day (UTC)',
      required: false,
      maxlength: 24,
    })}
    ${textField(form, { name: fieldIn('reason', row), label: 'Reason', required: false, maxlength: 500 })}
  </fieldset>`
  return html`<div>
    ${heading(
      'Entitlement overrides',
      "Entitlements that this customer's licenses have or lack, whatever their key type. Changes apply from the next check. To remove a row, clear its entitlement. An override without a day does not end.",
    )}
    ${formProblem(form)}
    <form class="stack" method="post" action=${`${own}/entitlements`}>
      ${tokenField(token)}
      <input type="hidden" name="seen" value=${typedIn(form, 'seen')} />
      <input type="hidden" name="rows" value=${rowsOf(form)} />
      ${Array.from({ length: rowsOf(form) }, (_, row) => override(row))}
      <div class="decide">
        <button>Save overrides</button>
        <button class="second" name="more" value="yes">More rows</button>
        <a class="button second" href=${own}>Cancel</a>
      </div>
    </form>
  </div>`
}
