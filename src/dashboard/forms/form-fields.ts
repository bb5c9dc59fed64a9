import { type Content, type Html, html } from '../../html.ts'
import { field, notice } from '../frame/parts.ts'
import { type FilledForm, typedIn } from './filled-form.ts'

type Labelled = { name: string; label: string; hint?: Content }

/** A text field of a form that was filled in, with what was typed and what is wrong with it. */
export const textField = (form: FilledForm, options: Parameters<typeof field>[0]): Html =>
  field({ ...options, value: typedIn(form, options.name), error: form.problems[options.name] })

/** A field of several lines. */
export function textArea(
  form: FilledForm,
  { name, label, hint, rows = 4, required = true }: Labelled & { rows?: number; required?: boolean },
): Html {
  const error = form.problems[name]
  return html`<div class="field">
    <label for=${name}>${label}</label>
    ${hint && html`<p class="hint" id=${`${name}-hint`}>${hint}</p>`}
    <textarea
      id=${name}
      name=${name}
      rows=${rows}
      required=${required}
      spellcheck=${false}
      aria-describedby=${describedBy(name, hint, error)}
      aria-invalid=${error ? 'true' : undefined}
    >
${typedIn(form, name)}</textarea
    >
    ${errorOf(name, error)}
  </div>`
}

/** A choice of one of several values. */
export function choiceField(
  form: FilledForm,
  {
    name,
    label,
    hint,
    choices,
  }: Labelled & { choices: readonly (readonly [value: string, label: string])[] },
): Html {
  const error = form.problems[name]
  return html`<div class="field">
    <label for=${name}>${label}</label>
    ${hint && html`<p class="hint" id=${`${name}-hint`}>${hint}</p>`}
    <select
      id=${name}
      name=${name}
      aria-describedby=${describedBy(name, hint, error)}
      aria-invalid=${error ? 'true' : undefined}
    >
      ${choices.map(
        ([value, text]) =>
          html`<option value=${value} selected=${typedIn(form, name) === value}>${text}</option>`,
      )}
    </select>
    ${errorOf(name, error)}
  </div>`
}

/** A check box that sends `value` when it is checked, and nothing otherwise. */
export function checkField(
  form: FilledForm,
  { name, label, hint, value = 'on' }: Labelled & { value?: string },
): Html {
  const id = value === 'on' ? name : `${name}-${value}`
  return html`<div class="check">
    <input
      type="checkbox"
      id=${id}
      name=${name}
      value=${value}
      checked=${form.typed[name]?.includes(value) ?? false}
      aria-describedby=${hint ? `${id}-hint` : undefined}
    />
    <label for=${id}>${label}</label>
    ${hint && html`<p class="hint" id=${`${id}-hint`}>${hint}</p>`}
  </div>`
}

/** What is wrong with the form as a whole, above its fields. */
export const formProblem = ({ problems }: FilledForm): Content =>
  problems.form !== undefined && notice('wrong', problems.form)

const describedBy = (name: string, hint: Content, error: string | undefined): string | undefined =>
  [hint && `${name}-hint`, error && `${name}-error`].filter(Boolean).join(' ') || undefined

const errorOf = (name: string, error: string | undefined): Content =>
  error !== undefined && html`<p class="error" id=${`${name}-error`}>${error}</p>`
