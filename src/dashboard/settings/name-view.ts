import { type Html, html } from '../../html.ts'
import { type FilledForm, newForm } from '../forms/filled-form.ts'
import { textField } from '../forms/form-fields.ts'
import { heading, tokenField } from '../frame/parts.ts'

const path = '/dashboard/settings/name'

const nameField = (form: FilledForm): Html =>
  textField(form, { name: 'name', label: 'Name', maxlength: 200, autocomplete: 'organization' })

export const nameView = (token: string, form: FilledForm): Html => html`<div class="narrow">
  ${heading('Workspace name', 'Shown in emails to your customers, in the portal, and on these pages.')}
  <form class="sheet stack" method="post" action=${path}>
    ${tokenField(token)} ${nameField(form)}
    <div class="decide">
      <button>Save</button>
      <a class="button second" href="/dashboard/settings">Cancel</a>
    </div>
  </form>
</div>`

/** The same form within a page, which it leads back to. */
export const shortNameForm = (token: string, name: string, returnTo: string): Html =>
  html`<form class="stack-tight" method="post" action=${path}>
    ${tokenField(token)} <input type="hidden" name="return" value=${returnTo} /> ${nameField(newForm({ name }))}
    <div><button class="second">Save name</button></div>
  </form>`
