import type { PresentCustomer } from '../../../projections/customers.ts'
import { type Content, html } from '../../html.ts'
import { sentenceList, tokenField } from '../frame/parts.ts'

/** A customer as another page names it. */
type Named = { customerId: string; email: string | null }

/** What a customer was merged into, and what was merged into it. */
export type Merges = { into: Named | undefined; merged: readonly Named[]; more: number }

const link = ({ customerId, email }: Named) =>
  html`<a href=${`/dashboard/customers/${customerId}`}>${email ?? customerId}</a>`

/** What the page of a customer says of merges, for its facts. */
export const mergedFacts = ({ into, merged, more }: Merges): (readonly [string, Content] | false)[] => [
  into !== undefined && ['Merged into', link(into)],
  merged.length > 0 && [
    'Merged customers',
    sentenceList([...merged.map(link), ...(more > 0 ? [`${more} more`] : [])]),
  ],
]

/** The form that merges a customer, or the button that undoes it. */
export const mergePart = (token: string, { customerId, mergedInto }: PresentCustomer): Content =>
  mergedInto === undefined
    ? html`<p class="after"><a class="button second" href=${`/dashboard/customers/${customerId}/merge`}>Merge into another customer</a></p>`
    : html`<form class="after" method="post" action=${`/dashboard/customers/${customerId}/unmerge`}>
        ${tokenField(token)}
        <p>The licenses of this customer belong to the one that it was merged into.</p>
        <button class="second">Undo the merge</button>
      </form>`
