import { dayIn, durationIn } from '../../domain/portal/texts.ts'
import { type Content, type Html, html } from '../../html.ts'
import type { ShownOrganization } from '../organizations/organization.ts'
import { nameOf, pathOf } from '../organizations/view.ts'
import { message } from '../page.ts'
import type { Visit } from '../visit.ts'
import type { ShownLicense } from './shown.ts'

const tones = { active: 'good', fallback: 'warn', expired: 'bad', suspended: 'warn', revoked: 'bad' } as const

const statusTexts = {
  active: 'statusActive',
  fallback: 'statusFallback',
  expired: 'statusExpired',
  suspended: 'statusSuspended',
  revoked: 'statusRevoked',
} as const

export const statusBadge = ({ say }: Visit, { status }: ShownLicense): Html =>
  html`<span class=${`badge ${tones[status]}`}>${say(statusTexts[status])}</span>`

/** Until when a license can be used, in a sentence. */
export function validityOf(
  { say, language }: Visit,
  { status, expiresAt, startsWith, graceUntil }: ShownLicense,
): string {
  if (status === 'revoked') return say('revokedWords')
  if (status === 'suspended') return say('suspendedWords')
  if (startsWith !== null) return say('endsAfterStart', { duration: durationIn(language, startsWith) })
  if (expiresAt === null) return say('endsNever')
  const date = dayIn(language, expiresAt)
  if (graceUntil !== null) return say('inGrace', { date, until: dayIn(language, graceUntil) })
  if (status === 'fallback') return say('fallbackSince', { date })
  return say(status === 'expired' ? 'endedOn' : 'endsOn', { date })
}

export function seatsOf(
  { say }: Visit,
  { seatsUsed: used, deviceLimit: limit, isNamed }: ShownLicense,
): string {
  if (limit === null) return say(isNamed ? 'personSeatsUnlimited' : 'seatsUnlimited', { used })
  return say(isNamed ? 'personSeatsOf' : 'seatsOf', { used, limit })
}

/** A label and its value; undefined ones are left out. */
export const facts = (pairs: readonly (readonly [string, Content] | undefined | false)[]): Html =>
  html`<dl class="facts">
    ${pairs
      .filter((pair) => pair !== undefined && pair !== false)
      .map(
        ([name, value]) => html`<div>
          <dt>${name}</dt>
          <dd>${value}</dd>
        </div>`,
      )}
  </dl>`

/** The list of a person's licenses, and their organizations. @param next the last license of this page, if there are more */
export function licensesView(
  visit: Visit,
  { licenses, next }: { licenses: readonly ShownLicense[]; next: string | null },
  organizations: readonly ShownOrganization[],
): Html {
  const { say, home, portal } = visit
  const links = organizations.map(
    (one) =>
      html`<p><a class="button second" href=${pathOf(visit, one)}>${say('organizationLink', { organization: nameOf(visit, one) })}</a></p>`,
  )
  const bought = html`<p><a href=${`${home}/purchases`}>${say('purchasesTitle')}</a></p>`
  if (licenses.length === 0) return message(say('noLicensesTitle'), say('noLicenses'), [links, bought])
  return html`<section>
    <h1>${say('title')}</h1>
    <p class="lead">${say('licensesLead', { vendor: portal.name })}</p>
    ${links}
    ${bought}
    <ul class="stack">
      ${licenses.map(
        (license) => html`<li class="sheet">
          <div class="title">
            <h2><a href=${`${home}/licenses/${license.licenseId}`}>${license.productName}</a></h2>
            ${statusBadge(visit, license)}
          </div>
          <p>${validityOf(visit, license)}</p>
          ${facts([
            [say('planLabel'), license.planName],
            [say('keyLabel'), html`<code>${license.displayKey}</code>`],
            [say(license.isNamed ? 'personSeatsTitle' : 'devicesLabel'), seatsOf(visit, license)],
          ])}
        </li>`,
      )}
    </ul>
    ${next !== null && html`<p><a class="button second" href=${`${home}?after=${next}`}>${say('moreLicenses')}</a></p>`}
  </section>`
}
