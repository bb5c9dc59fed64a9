import { type Content, type Html, html } from '../../html.ts'
import type { Ports } from '../../ports.ts'
import { candidateWords, customersMeant, notOneCustomer } from '../customers/choose.ts'
import type { FilledForm } from './filled-form.ts'
import { pickedField, pickedIn, withChoices, withPicked } from './picked-field.ts'
import { wantedLine } from './typed.ts'

const name = 'customerId'

/** Enough for every email address. */
export const maxCustomerText = 254

/** What a form that needs a customer is sent with in a {@link customerField}. */
export const customerText = wantedLine(
  maxCustomerText,
  'Enter the name, the email address or the ID of a customer.',
)

/**
 * A field in which a member picks a customer by name, email address or id. With JavaScript it suggests customers while it is
 * typed in.
 */
export const customerField = (
  form: FilledForm,
  { label, hint, required = true }: { label: string; hint?: Content; required?: boolean },
): Html => html`<div data-customers>
  ${pickedField(form, { name, label, hint, required, maxlength: maxCustomerText, legend: 'Customers that match' })}
</div>`

type Chosen = { customerId: string | undefined; filled: FilledForm } | { unclear: FilledForm }

/** The customer that a member has named in a {@link customerField}; `unclear` is the form to show when it is not exactly one. */
export async function chosenCustomer(
  ports: Ports<'db' | 'subjects'>,
  tenantId: string,
  filled: FilledForm,
): Promise<Chosen> {
  const text = pickedIn(filled, name)
  if (text === '') return { customerId: undefined, filled }
  const meant = await customersMeant(ports, tenantId, text)
  const [one, ...others] = meant.candidates
  if (one && others.length === 0 && !meant.more) {
    const { customerId } = one
    return { customerId, filled: withPicked(filled, name, customerId) }
  }
  const choices = meant.candidates.map((candidate) => ({
    id: candidate.customerId,
    words: candidateWords(candidate),
  }))
  return { unclear: withChoices(filled, name, notOneCustomer(text, meant), choices) }
}
