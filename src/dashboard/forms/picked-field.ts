import { type Content, type Html, html } from '../../html.ts'
import { type Choice, type FilledForm, newForm, typedIn, withProblem } from './filled-form.ts'
import { textField } from './form-fields.ts'

/** The field of the choice that was picked, and that of the text that the choices are for, beside the field of the text. */
const choiceOf = (name: string): string => `${name}Choice`
const offeredOf = (name: string): string => `${name}Offered`

type PickedField = Omit<Parameters<typeof textField>[1], 'value' | 'error'> & {
  /** What the choices are called. */
  legend: string
}

/**
 * A field in which a member names something by a part of what it is known by. When the text means several, the form is shown
 * again with them to choose from.
 */
export const pickedField = (form: FilledForm, { legend, ...field }: PickedField): Html =>
  html`${textField(form, field)} ${choicesIn(form, field.name, legend)}`

function choicesIn(form: FilledForm, name: string, legend: string): Content {
  const { choices = [] } = form
  if (choices.length === 0) return null
  return html`<fieldset class="stack">
    <legend>${legend}</legend>
    <input type="hidden" name=${offeredOf(name)} value=${typedIn(form, name)} />
    ${choices.map(
      ({ id, words }) => html`<div class="check">
        <input type="radio" id=${`${name}-${id}`} name=${choiceOf(name)} value=${id} />
        <label for=${`${name}-${id}`}>${words}</label>
      </div>`,
    )}
  </fieldset>`
}

/** What a {@link pickedField} was sent with: the choice that was picked for the text as it is, else the text; empty for neither. */
export function pickedIn(form: FilledForm, name: string): string {
  const text = typedIn(form, name).trim()
  // A choice is for the text that it was offered for.
  const isOffered = typedIn(form, offeredOf(name)).trim() === text
  return (isOffered && text !== '' && typedIn(form, choiceOf(name))) || text
}

/** The form with the id in the field, so that it does not ask once more when it is shown again. */
export const withPicked = (form: FilledForm, name: string, id: string): FilledForm =>
  newForm({ ...form.typed, [name]: id })

/** The form to show again when the text does not mean exactly one. */
export const withChoices = (
  form: FilledForm,
  name: string,
  problem: string,
  choices: readonly Choice[],
): FilledForm => ({ ...withProblem(form, name, problem), choices })
