import { type Html, html } from '../../html.ts'
import type { FilledForm } from '../forms/filled-form.ts'
import { formProblem, textField } from '../forms/form-fields.ts'
import { heading, secretBox, tokenField } from '../frame/parts.ts'
import type { AboutLicense, LicenseChange } from './change.ts'
import { licensePath } from './paths.ts'

type ChangeForm = {
  token: string
  operation: string
  change: LicenseChange
  about: AboutLicense
  form: FilledForm
}

/** The form of a change, with the reason that stands in the license's history. */
export function changeView({ token, operation, change, about, form }: ChangeForm): Html {
  const { licenseId, displayKey } = about.license
  const path = licensePath(licenseId)
  return html`<div class="narrow">
    ${heading(change.title, html`<span class="mono">${displayKey}</span>${about.person.email && html`, ${about.person.email}`}`)}
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
export function newKeyView(licenseId: string, licenseKey: string): Html {
  return html`<div class="narrow">
    ${heading('License key', 'Copy the key now and give it to your customer. It is shown only once.')}
    <div class="sheet stack">
      ${secretBox('License key', licenseKey)}
      <div class="decide">
        <a class="button" href=${licensePath(licenseId)}>View license</a>
      </div>
    </div>
  </div>`
}
