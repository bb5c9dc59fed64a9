import { dayIn } from '../../domain/portal/languages.ts'
import { type Html, html } from '../../html.ts'
import { standing } from '../licenses/meters-view.ts'
import { facts, seatsOf, statusBadge } from '../licenses/view.ts'
import type { Visit } from '../visit.ts'
import type { ShownOrganization } from './organization.ts'
import type { UsedLicense } from './usage.ts'
import { pathOf } from './view.ts'

/** What is used of each license of an organization. @param next the last license of this page, if there are more */
export function usageView(
  visit: Visit,
  organization: ShownOrganization,
  { licenses, next }: { licenses: readonly UsedLicense[]; next: string | null },
): Html {
  const { say } = visit
  const path = pathOf(visit, organization)
  return html`<section>
    <p><a href=${path}>${say('organizationTitle')}</a></p>
    <h1>${say('usageTitle')}</h1>
    ${
      licenses.length === 0
        ? html`<p>${say('organizationUsageNone')}</p>`
        : html`<ul class="stack">${licenses.map((used) => usedLicense(visit, used))}</ul>`
    }
    ${next !== null && html`<p><a class="button second" href=${`${path}/usage?after=${next}`}>${say('moreLicenses')}</a></p>`}
    ${licenses.length > 0 && html`<p class="actions"><a class="button second" href=${`${path}/usage.csv`} download>${say('peopleDownload')}</a></p>`}
  </section>`
}

function usedLicense(visit: Visit, { license, seenAt, meters }: UsedLicense): Html {
  const { say, language, home } = visit
  return html`<li class="sheet">
    <div class="title">
      <h2><a href=${`${home}/licenses/${license.licenseId}`}>${license.productName}</a></h2>
      ${statusBadge(visit, license)}
    </div>
    ${facts([
      [say('planLabel'), license.planName],
      [say('keyLabel'), html`<code>${license.displayKey}</code>`],
      [say(license.isNamed ? 'personSeatsTitle' : 'devicesLabel'), seatsOf(visit, license)],
      seenAt !== null && [say('usageSeenLabel'), dayIn(language, seenAt)],
    ])}
    ${meters.map((meter) => standing(visit, meter))}
  </li>`
}
