import type { Note } from '../../commands/customers/notes.ts'
import { maxNoteText } from '../../domain/customers/notes.ts'
import type { ActorName } from '../../history/actors.ts'
import { type Content, type Html, html } from '../../html.ts'
import type { FilledForm } from '../forms/filled-form.ts'
import { formProblem, textArea } from '../forms/form-fields.ts'
import { ago } from '../frame/moments.ts'
import type { View } from '../frame/page.ts'
import { heading, section, tokenField } from '../frame/parts.ts'

export type ShownNotes = {
  customerId: string
  /** Newest first. */
  notes: readonly Note[]
  nameOf: ActorName
  /** What a member who may add and remove notes sends; undefined for others. */
  add: { form: FilledForm; operation: string } | undefined
}

/** The notes about a customer, each with a button that removes it, and the form that adds one. */
function notesPart(view: View, { customerId, notes, nameOf, add }: ShownNotes): Html {
  const path = `/dashboard/customers/${customerId}/notes`
  const one = ({ noteId, text, actor, at }: Note): Html => html`<li class="note">
    <p class="lines">${text ?? 'erased'}</p>
    <div class="sub">
      ${nameOf(actor)}, ${ago(at, view.now)}
      ${
        add &&
        html`<form method="post" action=${`${path}/remove`}>
          ${tokenField(view.token)}
          <input type="hidden" name="noteId" value=${noteId} />
          <button class="quiet">Remove note</button>
        </form>`
      }
    </div>
  </li>`
  return html`${notes.length > 0 ? html`<ul class="sheet stack">${notes.map(one)}</ul>` : html`<p class="lead">No notes.</p>`}
  ${add && addForm(view, path, add)}`
}

const addForm = (
  { token }: View,
  path: string,
  { form, operation }: NonNullable<ShownNotes['add']>,
): Content =>
  html`<form class="after stack" method="post" action=${path}>
    ${tokenField(token)}
    <input type="hidden" name="operation" value=${operation} />
    ${textArea(form, {
      name: 'text',
      label: 'New note',
      hint: `At most ${maxNoteText.toLocaleString('en')} characters. Erased with the customer.`,
      rows: 3,
    })}
    <div><button class="second">Add note</button></div>
  </form>`

/** All notes about a customer. */
export function notesView(view: View, shown: ShownNotes): Html {
  return html`<div class="narrow">
    ${heading('Notes', 'What members and programs wrote about this customer, newest first.')}
    ${shown.add && formProblem(shown.add.form)} ${notesPart(view, shown)}
    <p class="after"><a class="button second" href=${`/dashboard/customers/${shown.customerId}`}>Back to the customer</a></p>
  </div>`
}

/** The newest notes on the page of the customer. */
export function newestNotes(view: View, shown: ShownNotes, more: boolean): Html {
  return html`${section('Notes', notesPart(view, shown))}
  ${more && html`<p class="after"><a class="button second" href=${`/dashboard/customers/${shown.customerId}/notes`}>Show all notes</a></p>`}`
}
