import type { SeatedPerson } from '../../commands/licenses/people-of-license.ts'
import type { OpenedPerson } from '../../commands/organizations/read-people.ts'
import { type Content, type Html, html } from '../../html.ts'
import type { FilledForm } from '../forms/filled-form.ts'
import { choiceField, formProblem } from '../forms/form-fields.ts'
import { dayOf } from '../frame/moments.ts'
import type { View } from '../frame/page.ts'
import { copyable, heading, section, table, tokenField } from '../frame/parts.ts'

/** The seats of a license that people have. */
export type ShownPersonSeats = {
  licenseId: string
  customerId: string | null
  /** null for no limit. */
  limit: number | null
  seated: readonly SeatedPerson[]
  /** The people of the organization without a seat. */
  others: readonly OpenedPerson[]
  mayChange: boolean
}

const wordsOf = ({ name, email }: OpenedPerson): string => name ?? email ?? 'erased'

export function personSeatsView(view: View, shown: ShownPersonSeats, form: FilledForm): Html {
  const { licenseId, seated, limit } = shown
  const count = seated.length.toLocaleString('en')
  const of = limit === null ? `${count} given, no limit` : `${count} of ${limit.toLocaleString('en')} given`
  return html`<div>
    ${heading('People with seats', `Each of them activates devices with a key of their own. ${of}.`)}
    ${formProblem(form)} ${seatsTable(view, shown)} ${giveForm(view, shown, form)}
    <p class="after"><a class="button second" href=${`/dashboard/licenses/${licenseId}`}>Back to the license</a></p>
  </div>`
}

function seatsTable(view: View, { licenseId, seated, mayChange }: ShownPersonSeats): Html {
  if (seated.length === 0) return html`<p class="lead">No one has a seat yet.</p>`
  return html`<div class="sheeted">
    ${table({
      caption: 'People with seats',
      columns: [
        { label: 'Person' },
        { label: 'Key' },
        { label: 'Devices' },
        { label: 'Since', wide: true },
        ...(mayChange ? [{ label: 'Actions' }] : []),
      ],
      rows: seated.map(({ person, seat }): Content[] => [
        html`<span>${wordsOf(person)}${person.name !== null && html`<span class="sub">${person.email}</span>`}</span>`,
        html`<code>${seat.displayKey}</code>`,
        seat.deviceIds.length.toLocaleString('en'),
        dayOf(seat.assignedAt),
        ...(mayChange ? [actions(view, licenseId, person)] : []),
      ]),
    })}
  </div>`
}

function actions({ token }: View, licenseId: string, { personId }: OpenedPerson): Html {
  const form = (action: string, label: string) =>
    html`<form method="post" action=${`/dashboard/licenses/${licenseId}/people/${action}`}>
      ${tokenField(token)}
      <input type="hidden" name="personId" value=${personId} />
      <button class="quiet">${label}</button>
    </form>`
  return html`<div class="actions">${form('key', 'New key')} ${form('take', 'Take seat')}</div>`
}

function giveForm(
  { token }: View,
  { licenseId, customerId, others, mayChange }: ShownPersonSeats,
  form: FilledForm,
): Content {
  if (!mayChange) return null
  if (others.length === 0) {
    const people =
      customerId === null
        ? html`<p>Link this license to a customer that is an organization first.</p>`
        : html`<p>Everybody in the organization has a seat. <a href=${`/dashboard/customers/${customerId}/people`}>Add people</a></p>`
    return section('Give a seat', people)
  }
  return section(
    'Give a seat',
    html`<form class="sheet stack" method="post" action=${`/dashboard/licenses/${licenseId}/people`}>
      ${tokenField(token)}
      ${choiceField(form, {
        name: 'personId',
        label: 'Person',
        choices: others.map((person) => [person.personId, wordsOf(person)] as const),
      })}
      <div><button class="second">Give seat</button></div>
    </form>`,
  )
}

/** A new key, on the page that follows the form and nowhere else. */
export const personKeyView = (back: string, licenseKey: string): Html =>
  html`<div>
    ${heading('New key', 'Send it to the person, or let them read it in your portal. The one before does not work any more.')}
    <p class="sheet">${copyable('license key', licenseKey)}</p>
    <p class="after"><a class="button second" href=${back}>Back to the people</a></p>
  </div>`
