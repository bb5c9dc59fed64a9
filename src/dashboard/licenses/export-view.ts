import { licenseStatuses } from '../../domain/licenses/license.ts'
import { type Html, html } from '../../html.ts'
import type { FilledForm } from '../forms/filled-form.ts'
import { choiceField, formProblem } from '../forms/form-fields.ts'
import { asNamed, heading, tokenField } from '../frame/parts.ts'

type Export = {
  token: string
  products: readonly { productId: string; name: string }[]
  form: FilledForm
}

/** The form that requests an export. */
export function exportView({ token, products, form }: Export): Html {
  const named = products.map(({ productId, name }) => [productId, name] as const)
  return html`<div class="narrow">
    ${heading('Export licenses', "The file contains customers' email addresses, so an owner or an approver has to approve the request. Keys are masked.")}
    ${formProblem(form)}
    <form class="sheet stack" method="post" action="/dashboard/export-licenses">
      ${tokenField(token)}
      ${choiceField(form, {
        name: 'format',
        label: 'Format',
        hint: 'CSV opens in a spreadsheet. JSON lines have the fields of the API.',
        choices: [
          ['csv', 'CSV'],
          ['ndjson', 'JSON lines'],
        ],
      })}
      ${choiceField(form, { name: 'product', label: 'Product', choices: [['', 'All products'], ...named] })}
      ${choiceField(form, {
        name: 'status',
        label: 'Status',
        choices: [['', 'Any status'], ...asNamed(licenseStatuses)],
      })}
      <p class="hint">After the approval you download the file on its page, once, within 60 minutes.</p>
      <div class="decide">
        <button>Request export</button>
        <a class="button second" href="/dashboard/licenses">Cancel</a>
      </div>
    </form>
  </div>`
}
