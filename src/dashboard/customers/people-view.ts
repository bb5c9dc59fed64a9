import type { PresentCustomer } from '../../../projections/customers.ts'
import type { OpenedPerson } from '../../commands/organizations/read-people.ts'
import { mostAtOnce } from '../../domain/organizations/list.ts'
import type { LanguageNames } from '../../domain/portal/languages.ts'
import { type Content, type Html, html } from '../../html.ts'
import { counted } from '../../sentence.ts'
import type { FilledForm } from '../forms/filled-form.ts'
import { checkField, choiceField, formProblem, textArea } from '../forms/form-fields.ts'
import { ago, dayOf } from '../frame/moments.ts'
import type { View } from '../frame/page.ts'
import { badge, heading, section, table, tokenField } from '../frame/parts.ts'

/** The people of an organization that a page shows. */
export type ShownPeople = {
  customer: PresentCustomer
  people: readonly OpenedPerson[]
  /** The last of this page, if there are more. */
  next: string | null
  mayChange: boolean
}

const pathOf = ({ customerId }: PresentCustomer): string => `/dashboard/customers/${customerId}/people`

function peopleTable(view: View, { customer, people, mayChange }: ShownPeople): Html {
  return html`<div class="sheeted">
    ${table({
      caption: 'People',
      columns: [
        { label: 'Person' },
        { label: 'Role' },
        { label: 'Added', wide: true },
        { label: 'Invitation', wide: true },
        ...(mayChange ? [{ label: 'Actions' }] : []),
      ],
      rows: people.map((person): Content[] => [
        html`<span>${person.name ?? person.email ?? 'erased'}${person.name !== null && html`<span class="sub">${person.email}</span>`}</span>`,
        badge(person.role === 'administrator' ? 'good' : 'plain', person.role),
        dayOf(person.addedAt),
        invitationWords(view, person),
        ...(mayChange ? [actions(view, customer, person)] : []),
      ]),
    })}
  </div>`
}

function invitationWords({ now }: View, { invitedAt, mailedAt }: OpenedPerson): string {
  if (invitedAt === null) return 'none'
  return mailedAt === null ? `waits since ${ago(invitedAt, now)}` : `sent ${ago(mailedAt, now)}`
}

function actions({ token }: View, customer: PresentCustomer, { personId, role }: OpenedPerson): Html {
  const other = role === 'administrator' ? 'member' : 'administrator'
  const form = (action: string, label: string, fields?: Content) =>
    html`<form method="post" action=${`${pathOf(customer)}/${action}`}>
      ${tokenField(token)}
      <input type="hidden" name="personId" value=${personId} />
      ${fields}
      <button class="quiet">${label}</button>
    </form>`
  return html`<div class="actions">
    ${form('role', `Make ${other}`, html`<input type="hidden" name="role" value=${other} />`)}
    ${form('invite', 'Invite again')} ${form('remove', 'Remove')}
  </div>`
}

/** All people of an organization, and the form that adds some. */
export function peopleView(view: View, shown: ShownPeople, languages: LanguageNames, form: FilledForm): Html {
  const { customer, next, mayChange } = shown
  const own = `/dashboard/customers/${customer.customerId}`
  return html`<div>
    ${heading('People', 'Who may see and use the licenses of this organization in the portal, newest first.')}
    ${formProblem(form)} ${peopleTable(view, shown)}
    ${next !== null && html`<p class="after"><a class="button second" href=${`${pathOf(customer)}?after=${next}`}>More people</a></p>`}
    ${mayChange && section('Add people', addForm(view, customer, languages, form))}
    ${mayChange && dissolveForm(view, customer)}
    <p class="after"><a class="button second" href=${own}>Back to the customer</a></p>
  </div>`
}

const addForm = (
  { token }: View,
  customer: PresentCustomer,
  languages: LanguageNames,
  form: FilledForm,
): Html =>
  html`<form class="sheet stack" method="post" action=${pathOf(customer)}>
    ${tokenField(token)}
    ${textArea(form, {
      name: 'list',
      label: 'People',
      hint: `One on each line, at most ${mostAtOnce}: the email address, and after commas a name and a role (administrator or member) if you like. You can paste cells of a spreadsheet.`,
      rows: 4,
    })}
    ${checkField(form, { name: 'invite', label: 'Invite them by email', hint: 'The invitation leads to your portal.' })}
    ${choiceField(form, {
      name: 'language',
      label: 'Language of the invitation',
      choices: Object.entries(languages),
    })}
    <div><button class="second">Add people</button></div>
  </form>`

const dissolveForm = ({ token }: View, customer: PresentCustomer): Html =>
  html`<form class="after" method="post" action=${`/dashboard/customers/${customer.customerId}/organization/dissolve`}>
    ${tokenField(token)}
    <p>A dissolved organization is a customer of one person again. Its people can no longer see the licenses.</p>
    <button class="second">Dissolve organization</button>
  </form>`

/** The people on the page of a customer, or the button that makes it an organization. */
export function peoplePart(view: View, shown: ShownPeople): Content {
  const { customer, people, mayChange } = shown
  const { customerId, erasedAt, mergedInto } = customer
  if (customer.people !== undefined) {
    const count = Object.keys(customer.people).length
    return html`${section(
      'People',
      people.length === 0
        ? html`<p class="lead">No people.</p>`
        : peopleTable(view, { ...shown, mayChange: false }),
      `An organization with ${counted(count, 'person', 'people')}, who see its licenses in the portal.`,
    )}
    <p class="after"><a class="button second" href=${pathOf(customer)}>${mayChange ? 'Show or change people' : 'Show all people'}</a></p>`
  }
  if (!mayChange || erasedAt !== null || mergedInto !== undefined) return null
  return html`<form class="after" method="post" action=${`/dashboard/customers/${customerId}/organization`}>
    ${tokenField(view.token)}
    <p>An organization has people, who sign in to the portal with their own addresses. This person becomes its first administrator.</p>
    <button class="second">Make this an organization</button>
  </form>`
}
