import { dayIn } from '../../domain/portal/languages.ts'
import { type Content, type Html, html } from '../../html.ts'
import { formOf } from '../form.ts'
import { personWords } from '../organizations/view.ts'
import type { Visit } from '../visit.ts'
import type { PersonSeats } from './person-seats.ts'
import type { LicenseDetails } from './shown.ts'

/** Who has the seats, and the key of the one who looks. */
export function personSeatsPart(visit: Visit, { license, seats, mayChange }: LicenseDetails): Content {
  if (!seats) return null
  const { say, home } = visit
  const path = `${home}/licenses/${license.licenseId}`
  return html`${ownKey(visit, path, seats)}
    <h2>${say('personSeatsTitle')}</h2>
    <div class="sheet">
      <p>${say('personSeatsLead', { count: seats.devicesPerPerson })}</p>
      <ul>${seats.seated.map((one) => seatRow(visit, path, one, mayChange))}</ul>
    </div>
    ${mayChange && giveForm(visit, path, seats)}`
}

function ownKey(visit: Visit, path: string, { own }: PersonSeats): Content {
  if (!own) return null
  const { say } = visit
  return html`<h2>${say('ownKeyTitle')}</h2>
    ${formOf(
      visit,
      { action: `${path}/own-key`, isSheet: true, button: say('ownKeyShow') },
      html`<p>${say('ownKeyLead')} <code>${own.seat.displayKey}</code></p>`,
    )}`
}

function seatRow(
  visit: Visit,
  path: string,
  { person, seat }: PersonSeats['seated'][number],
  mayChange: boolean,
): Html {
  const { say, language } = visit
  const words = personWords(visit, person)
  const since = say('personSeatSince', {
    date: dayIn(language, seat.assignedAt),
    count: seat.deviceIds.length,
  })
  return html`<li class="device">
    <div>
      <p class="name">${words}</p>
      <p class="soft">${since}</p>
    </div>
    ${
      mayChange &&
      html`<div class="actions">
        <a class="button danger" href=${`${path}/people/${person.personId}`} aria-label=${`${say('takeSeat')}: ${words}`}>${say('takeSeat')}</a>
      </div>`
    }
  </li>`
}

function giveForm(visit: Visit, path: string, { others, free, nextAt }: PersonSeats): Content {
  const { say, language } = visit
  if (others.length === 0) return null
  const waits =
    nextAt !== null && html`<p class="soft">${say('seatsWait', { date: dayIn(language, nextAt) })}</p>`
  const isFull = free === 0 && nextAt === null
  return html`<h2>${say('giveSeatTitle')}</h2>
    ${formOf(
      visit,
      { action: `${path}/people`, isSheet: true, button: isFull ? null : say('giveSeat') },
      isFull
        ? html`<p>${say('seatsFull')}</p>`
        : html`${waits}
            <div class="field">
              <label for="person">${say('giveSeatLabel')}</label>
              <select id="person" name="person" required>
                ${others.map((person) => html`<option value=${person.personId}>${personWords(visit, person)}</option>`)}
              </select>
            </div>`,
    )}`
}

/** Asks before the seat of a person is taken away. */
export function takeSeatView(
  visit: Visit,
  licenseId: string,
  { person }: PersonSeats['seated'][number],
  waitsUntil: string | null,
): Html {
  const { say, home, language } = visit
  const path = `${home}/licenses/${licenseId}`
  return html`<section class="narrow">
    <h1>${say('takeSeatTitle', { person: personWords(visit, person) })}</h1>
    <p class="lead">${say('takeSeatLead')}</p>
    ${waitsUntil !== null && html`<p>${say('takeSeatWaits', { date: dayIn(language, waitsUntil) })}</p>`}
    ${formOf(visit, { action: `${path}/people/${person.personId}`, button: say('takeSeat'), back: path })}
  </section>`
}

/** The key of the one who asked for it. It is on this page only, which no address leads to. */
export function ownKeyView(visit: Visit, licenseId: string, licenseKey: string, devices: number): Html {
  const { say, home } = visit
  const path = `${home}/licenses/${licenseId}`
  return html`<section class="narrow">
    <h1>${say('ownKeyTitle')}</h1>
    <p class="lead">${say('ownKeyHow', { count: devices })}</p>
    <div class="sheet stack">
      <pre class="carried">${licenseKey}</pre>
      <div class="actions"><a class="button second" href=${path}>${say('fileBack')}</a></div>
    </div>
    ${formOf(
      visit,
      {
        action: `${path}/own-key/replace`,
        isSheet: true,
        button: say('ownKeyReplace'),
        buttonLook: 'second',
      },
      html`<p>${say('ownKeyReplaceLead')}</p>`,
    )}
  </section>`
}
