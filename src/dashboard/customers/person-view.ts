import { z } from 'zod'
import { EmailAddress } from '../../domain/values.ts'
import { type Html, html } from '../../html.ts'
import type { FilledForm } from '../forms/filled-form.ts'
import { formProblem, textArea, textField } from '../forms/form-fields.ts'
import { pairs } from '../forms/pairs.ts'
import { optionalLine } from '../forms/typed.ts'
import { heading, tokenField } from '../frame/parts.ts'

type CustomerForm = {
  token: string
  form: FilledForm
  /** The customer that is changed; undefined for a new one, whose form has an operation. */
  customerId: string | undefined
  operation?: string
}

/** The form of a customer, new or not. */
export function customerFormView({ token, form, customerId, operation }: CustomerForm): Html {
  const own = customerId === undefined ? '/dashboard/customers' : `/dashboard/customers/${customerId}`
  const lead =
    'A person or a company that licenses are linked to. The address and the name are stored encrypted.'
  return html`<div class="narrow">
    ${customerId === undefined ? heading('New customer', lead) : heading('Edit customer', html`<code>${customerId}</code>`)}
    ${formProblem(form)}
    <form
      class="sheet stack"
      method="post"
      action=${customerId === undefined ? '/dashboard/new-customer' : `${own}/edit`}
    >
      ${tokenField(token)}
      ${operation !== undefined && html`<input type="hidden" name="operation" value=${operation} />`}
      ${textField(form, {
        name: 'email',
        label: 'Email',
        type: 'email',
        hint: customerId === undefined ? undefined : 'Licenses keep the address that they were issued for.',
        maxlength: 254,
      })}
      ${textField(form, { name: 'name', label: 'Name', required: false, maxlength: 200 })}
      ${textArea(form, {
        name: 'metadata',
        label: 'Metadata',
        hint: html`For your own use, a pair in each line: <code>crm: 4711</code>`,
        required: false,
      })}
      <div class="decide">
        <button>${customerId === undefined ? 'Create customer' : 'Save'}</button>
        <a class="button second" href=${own}>Cancel</a>
      </div>
    </form>
  </div>`
}

/** A customer as a member fills them in. */
export const CustomerForm = z.object({
  email: z
    .string()
    .trim()
    .optional()
    .default('')
    .refine(
      (text) => EmailAddress.safeParse(text).success,
      'Enter an email address, for example ada@example.com.',
    ),
  name: optionalLine(200),
  metadata: pairs,
})
