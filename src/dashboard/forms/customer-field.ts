import { type Content, type Html, html } from '../../html.ts'
import type { Ports } from '../../ports.ts'
import { type Candidate, candidateWords, customersMeant, notOneCustomer } from '../customers/choose.ts'
import { type FilledForm, newForm, typedIn, withProblem } from './filled-form.ts'
import { textField } from './form-fields.ts'

/** The field of the text, that of the candidate that was chosen, and that of the text that the candidates are for. */
const names = { text: 'customerId', choice: 'customerChoice', offered: 'customerOffered' } as const

/** Enough for every email address. */
export const maxCustomerText = 254

/**
 * A field in which a member names a customer by name, email address or id. When the text means several, the form is shown
 * again with them to choose from. With JavaScript the field suggests customers while it is typed in.
 */
export const customerField = (
  form: FilledForm,
  { label, hint, required = true }: { label: string; hint?: Content; required?: boolean },
): Html => html`<div data-customers>
  ${textField(form, { name: names.text, label, hint, required, maxlength: maxCustomerText })}
  ${choices(form)}
</div>`

function choices(form: FilledForm): Content {
  const { candidates = [] } = form
  if (candidates.length === 0) return null
  return html`<fieldset class="stack">
    <legend>Customers that match</legend>
    <input type="hidden" name=${names.offered} value=${typedIn(form, names.text)} />
    ${candidates.map((candidate) => {
      const id = `${names.choice}-${candidate.customerId}`
      return html`<div class="check">
        <input type="radio" id=${id} name=${names.choice} value=${candidate.customerId} />
        <label for=${id}>${candidateWords(candidate)}</label>
      </div>`
    })}
  </fieldset>`
}

type Chosen =
  /** The field has the id now, so that a form that is shown again does not ask once more. */
  | { customerId: string | undefined; filled: FilledForm }
  | { unclear: FilledForm & { candidates: readonly Candidate[] } }

/** The customer that a member has named in a {@link customerField}; `unclear` is the form to show when it is not exactly one. */
export async function chosenCustomer(
  ports: Ports<'db' | 'subjects'>,
  tenantId: string,
  filled: FilledForm,
): Promise<Chosen> {
  const text = typedIn(filled, names.text).trim()
  if (text === '') return { customerId: undefined, filled }
  // A choice is for the text that it was offered for.
  const isOffered = typedIn(filled, names.offered).trim() === text
  const choice = isOffered ? typedIn(filled, names.choice) : ''
  const meant = await customersMeant(ports, tenantId, choice || text)
  const [one, ...others] = meant.candidates
  if (one && others.length === 0 && !meant.more) {
    const { customerId } = one
    return { customerId, filled: newForm({ ...filled.typed, [names.text]: customerId }) }
  }
  const unclear = withProblem(filled, names.text, notOneCustomer(text, meant))
  return { unclear: { ...unclear, candidates: meant.candidates } }
}
