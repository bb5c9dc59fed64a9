import { type Html, html } from '../../html.ts'
import type { FilledForm } from '../forms/filled-form.ts'
import { formProblem, textField } from '../forms/form-fields.ts'
import { heading, secretBox, tokenField } from '../frame/parts.ts'
import type { About, Change } from './change.ts'

type ChangeForm<Subject extends About> = {
  token: string
  operation: string
  change: Change<Subject>
  about: Subject
  form: FilledForm
}

/** The form of a change, with the reason that stands in the license's history. */
export function changeView<Subject extends About>(shown: ChangeForm<Subject>): Html {
  const { token, operation, change, about, form } = shown
  const { path } = about
  return html`<div class="narrow">
    ${heading(change.title, about.named)}
    ${formProblem(form)}
    <form class="sheet stack" method="post" action=${`${path}/change/${change.name}`}>
      ${tokenField(token)}
      <input type="hidden" name="operation" value=${operation} />
      <p>${change.lead(about)}</p>
      ${change.fields(form, about)}
      ${
        change.reasonHint !== null &&
        textField(form, {
          name: 'reason',
          label: 'Reason',
          hint: change.reasonHint ?? "Shown in the license's history. Optional.",
          required: change.reasonHint !== undefined,
          maxlength: 500,
        })
      }
      <div class="decide">
        <button>${change.button}</button>
        <a class="button second" href=${path}>Cancel</a>
      </div>
    </form>
  </div>`
}

/** The key of a license that was replaced, which no other page shows. */
export function newKeyView(path: string, licenseKey: string): Html {
  return html`<div class="narrow">
    ${heading('License key', 'Copy the key now and give it to your customer. It is shown only once.')}
    <div class="sheet stack">
      ${secretBox('License key', licenseKey)}
      <div class="decide">
        <a class="button" href=${path}>View license</a>
      </div>
    </div>
  </div>`
}
