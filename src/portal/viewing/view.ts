import type { Viewing } from '../../access/portal-viewings.ts'
import { type Html, html } from '../../html.ts'
import { tokenField } from '../form.ts'
import type { Visit } from '../visit.ts'

/** `14:05 UTC` */
const timeOf = (moment: Date): string =>
  `${new Intl.DateTimeFormat('en-GB', { timeStyle: 'short', timeZone: 'UTC' }).format(moment)} UTC`

/** What stands above every page of a viewing. It is for the member, so it is not one of the vendor's texts. */
export const viewingBanner = (visit: Visit, { endsAt }: Viewing): Html =>
  html`<aside class="viewing" lang="en" aria-label="Read-only view">
    <p>
      You see the portal as <strong>${visit.customer?.email ?? 'this customer'}</strong> does. Nothing can be changed. Ends at${' '}
      ${timeOf(endsAt)}.
    </p>
    <form method="post" action=${`${visit.home}/viewing/end`}>
      ${tokenField(visit)}
      <button class="second">End</button>
    </form>
  </aside>`

type Words = { title: string; text: string }

export const readOnly: Words = {
  title: 'Nothing can be changed here',
  text: 'You see the portal as a customer does, and only the customer can change something. Change licenses and customers in the dashboard.',
}

export const isOver: Words = {
  title: 'This view has ended',
  text: 'You saw the portal as a customer does, for at most 15 minutes. To see it again, open it from the page of the customer.',
}

export const uselessLink: Words = {
  title: 'This link cannot be used',
  text: 'It is good once, and only from the dashboard. Open the portal from the page of the customer again.',
}

export const toDashboard = (path = '/dashboard/customers'): Html =>
  html`<p lang="en"><a class="button" href=${path}>Back to the dashboard</a></p>`
