import type { RelayAnswer } from '../../commands/devices/relays.ts'
import type { Relay } from '../../domain/licenses/relay-seats.ts'
import { dayIn } from '../../domain/portal/languages.ts'
import type { PortalTextKey } from '../../domain/portal/texts.ts'
import { type Content, type Html, html } from '../../html.ts'
import type { Visit } from '../visit.ts'
import { carriedForm } from './files-view.ts'
import type { LicenseDetails } from './shown.ts'

/** Takes the text that a relay made. */
export const relayFormView = (
  visit: Visit,
  licenseId: string,
  typed: { text: string; problem?: PortalTextKey },
): Html =>
  carriedForm(visit, `${visit.home}/licenses/${licenseId}`, {
    ...typed,
    action: 'relay',
    title: visit.say('relayTitle'),
    lead: `${visit.say('relaysLead')} ${visit.say('relayHold')}`,
    label: visit.say('relayLabel'),
    hint: visit.say('relayHow'),
  })

/** The answer to a relay, to keep as a file. */
export function relayAnswerView(
  { say, home, language }: Visit,
  licenseId: string,
  { relay, answer }: { relay: Relay; answer: RelayAnswer },
): Html {
  const { name, seats } = relay
  const text = JSON.stringify(answer, null, 2)
  return html`<section class="narrow">
    <h1>${say('relayTitle')}</h1>
    <p class="lead">${say('relayFor', { name, seats, date: dayIn(language, relay.endsAt) })}</p>
    <div class="sheet stack">
      <div class="actions">
        <a class="button" download="relay-answer.json" href=${`data:application/json,${encodeURIComponent(text)}`}>${say('fileSave')}</a>
        <a class="button second" href=${`${home}/licenses/${licenseId}`}>${say('fileBack')}</a>
      </div>
      <pre class="carried">${text}</pre>
    </div>
  </section>`
}

/** The relays of a license, and how to have one. */
export function relaysPart(
  { say, home, language }: Visit,
  { license, relays, mayHaveRelays }: LicenseDetails,
): Content {
  if (!mayHaveRelays) return null
  return html`<h2>${say('relaysTitle')}</h2>
    <div class="sheet stack">
      <p>${say('relaysLead')}</p>
      ${
        relays.length > 0 &&
        html`<ul>
          ${relays.map(
            (relay) => html`<li class="device">
              <div>
                <p class="name">${relay.name}</p>
                <p class="soft">${say('relayUntil', { seats: relay.seats, date: dayIn(language, relay.endsAt) })}</p>
                ${relay.isCopied && html`<p class="soft">${say('relayCopied')}</p>`}
              </div>
            </li>`,
          )}
        </ul>`
      }
      <div class="actions"><a class="button second" href=${`${home}/licenses/${license.licenseId}/relay`}>${say('relaysLink')}</a></div>
    </div>`
}
