import { z } from 'zod'
import { certifyRelay, releaseRelay } from '../../commands/devices/relays.ts'
import { type Html, html } from '../../html.ts'
import { maxRelayStatementLength } from '../../signing/relay-bounds.ts'
import { textArea, textField } from '../forms/form-fields.ts'
import { optionalWhole } from '../forms/typed.ts'
import { moment } from '../frame/moments.ts'
import { copyableBlock, heading } from '../frame/parts.ts'
import { type CarriedAnswer, changeInput, licenseChange, withReason } from './change.ts'

/** A text that a relay made, which is pasted in lines. */
const carried = (missing: string) => z.string().trim().min(1, missing).max(maxRelayStatementLength, missing)

/** Enrolls or renews a relay by the request that it made. */
export const certify = licenseChange({
  name: 'relay',
  label: 'Relay',
  title: "Relay in the customer's network",
  button: 'Make answer',
  lead: () =>
    'The relay takes seats of the license, and keeps them until its certificate ends or it gives them back. A certificate cannot be shortened.',
  fits: ({ revokedAt }, { allowsRelays }) => revokedAt === null && allowsRelays,
  schema: withReason({
    request: carried('Paste the request that the relay made.'),
    days: optionalWhole(1, 366),
  }),
  values: () => ({}),
  fields: (form) =>
    html`${textArea(form, {
      name: 'request',
      label: 'Request',
      hint: 'The text that the relay made, from BEGIN to END: to be enrolled or renewed.',
      rows: 8,
    })}
    ${textField(form, {
      name: 'days',
      label: 'Days',
      hint: 'How long the relay may go on without renewal. Leave empty for as long as the key type allows.',
      required: false,
      inputmode: 'numeric',
      maxlength: 3,
    })}`,
  async run(ports, about, { request, days, ...typed }, origin) {
    const wanted = { ...changeInput(about, typed), request, days: days ?? undefined }
    const { relay, answer } = await certifyRelay(ports, wanted, origin)
    const { name, seats, endsAt } = relay
    return { relayAnswer: { text: JSON.stringify(answer, null, 2), name, seats, endsAt } }
  },
  problems: {
    relay_too_long: ['days', 'The key type does not allow so many days.'],
    relay_request_unreadable: [
      'request',
      'This is no request of a relay for this product. Paste the whole text, from BEGIN to END.',
    ],
    relay_request_of_another_license: ['request', 'The request was made for another license key.'],
    relay_request_outdated: [
      'request',
      'A newer request of the relay was answered. Make a new one on the relay.',
    ],
    relay_not_found: ['request', 'The license has no such relay. Enroll the relay again.'],
    relay_released: ['request', 'The relay gave its seats back. Enroll it again.'],
    relay_copied: [
      'request',
      'The relay was copied, so it is not renewed. Delete its copies and enroll a new one: the seats of this one come back when its certificate ends.',
    ],
    relay_limit_reached: ['form', 'The license has had 100 relays within a year. Renew those that it has.'],
    seat_limit_reached: ['form', 'Fewer seats are free than the relay asks for.'],
  },
})

/** Takes the seats of a relay back with the release that it made. */
export const relayBack = licenseChange({
  name: 'release-relay',
  label: 'Take relay back',
  title: 'Take the seats of a relay back',
  button: 'Free seats',
  lead: () => 'The relay makes a release when it stops for good. Its seats are free immediately.',
  fits: (_, { hasRelays }) => hasRelays,
  schema: withReason({ release: carried('Paste the release that the relay made.') }),
  values: () => ({}),
  fields: (form) =>
    textArea(form, {
      name: 'release',
      label: 'Release',
      hint: 'The text that the relay made, from BEGIN to END.',
      rows: 8,
    }),
  async run(ports, about, { release, ...typed }, origin) {
    await releaseRelay(ports, { ...changeInput(about, typed), release }, origin)
    return undefined
  },
  problems: {
    relay_release_unreadable: [
      'release',
      'This is no release of a relay for this product. Paste the whole text, from BEGIN to END.',
    ],
    relay_not_found: ['release', 'The license has no such relay.'],
    relay_copied: [
      'release',
      'The relay was copied, so a copy may still give out its seats. They come back when its certificate ends.',
    ],
  },
})

/** The answer to a relay, to copy or to keep as a file. */
export function relayAnswerView(path: string, { text, name, seats, endsAt }: CarriedAnswer): Html {
  const words = seats === 1 ? '1 seat' : `${seats.toLocaleString('en')} seats`
  return html`<div class="narrow">
    ${heading('Answer to the relay', html`For ${name} with ${words}, good until ${moment(endsAt)}. Only that relay can use it.`)}
    <div class="sheet stack">
      <div class="answer-text">${copyableBlock('answer', text)}</div>
      <div class="decide">
        <a class="button" download="relay-answer.json" href=${`data:application/json,${encodeURIComponent(text)}`}>Save as a file</a>
        <a class="button second" href=${path}>View license</a>
      </div>
    </div>
  </div>`
}
