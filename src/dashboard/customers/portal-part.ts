import type { PortalVisit } from '../../access/customer-sessions.ts'
import { type Content, type Html, html } from '../../html.ts'
import { auditPath } from '../audit/filter.ts'
import { ago, moment } from '../frame/moments.ts'
import type { View } from '../frame/page.ts'
import { section, table, tokenField } from '../frame/parts.ts'

export type PortalUse = {
  customerId: string
  /** When the person signed in. */
  visits: readonly PortalVisit[]
  /** When members saw the portal as this customer. */
  viewings: readonly { at: string; by: string }[]
  /** Why they cannot do so now; undefined if they can. */
  why: string | undefined
}

/** When the person signed in to the portal, and how a member sees it as they do. */
export const portalPart = (view: View, use: PortalUse): Html =>
  html`${visitsPart(view, use.visits)} ${viewingPart(view, use)}`

function visitsPart(view: View, visits: readonly PortalVisit[]): Html {
  if (visits.length === 0)
    return section('Portal visits', html`<p class="lead">No visits in the last 90 days.</p>`)
  return section(
    'Portal visits',
    html`<div class="sheeted">
      ${table({
        caption: 'Portal visits',
        columns: [{ label: 'Signed in' }, { label: 'Last seen' }, { label: 'Signed out', wide: true }],
        rows: visits.map(({ createdAt, lastSeenAt, endedAt }): Content[] => [
          moment(createdAt),
          ago(lastSeenAt, view.now),
          endedAt === null ? 'no' : moment(endedAt),
        ]),
      })}
    </div>`,
    'The last sign-ins of this person to the portal, kept for 90 days.',
  )
}

const viewingPart = (view: View, { customerId, viewings, why }: PortalUse): Html =>
  html`${section(
    'Portal as this customer',
    viewings.length === 0
      ? html`<p class="lead">No member has seen the portal as this customer.</p>`
      : html`<div class="sheeted">
          ${table({
            caption: 'Portal as this customer',
            columns: [{ label: 'Opened' }, { label: 'By' }],
            rows: viewings.map(({ at, by }): Content[] => [moment(at), by]),
          })}
        </div>`,
    html`What they see, read only and for 15 minutes. It is no visit of theirs, and is recorded in the${' '}
      <a href=${auditPath({ target: customerId, action: 'portal_viewed' })}>audit log</a>.`,
  )}
  ${view.may('view_as_customer') && viewingForm(view, customerId, why)}`

const viewingForm = ({ token }: View, customerId: string, why: string | undefined): Html =>
  why === undefined
    ? html`<form class="after" method="post" action=${`/dashboard/customers/${customerId}/portal`}>
        ${tokenField(token)}
        <button class="second">See the portal as this customer</button>
      </form>`
    : html`<p class="after">${why}</p>`
