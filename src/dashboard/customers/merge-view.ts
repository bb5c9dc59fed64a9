import type { PresentCustomer } from '../../../projections/customers.ts'
import { type Content, html } from '../../html.ts'
import { sentenceList, tokenField } from '../frame/parts.ts'

const link = (customerId: string) =>
  html`<a class="mono" href=${`/dashboard/customers/${customerId}`}>${customerId}</a>`

/** As many of the customers that were merged into one as its page names. */
const mostNamed = 10

/** What the page of a customer says of merges, for its facts. */
export const mergedFacts = (
  { mergedInto }: PresentCustomer,
  merged: readonly PresentCustomer[],
): (readonly [string, Content] | false)[] => [
  mergedInto !== undefined && ['Merged into', link(mergedInto)],
  merged.length > 0 && [
    'Merged customers',
    sentenceList([
      ...merged.slice(0, mostNamed).map(({ customerId }) => link(customerId)),
      ...(merged.length > mostNamed ? [`${merged.length - mostNamed} more`] : []),
    ]),
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
