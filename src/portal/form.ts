import { type Content, type Html, html } from '../html.ts'
import type { Visit } from './visit.ts'

type Form = {
  action: string
  /** Whether it is a sheet of its own; otherwise it is a part of one, or stands alone. */
  isSheet?: true
  /** What its button says; null where there is nothing to send now. */
  button: string | null
  buttonLook?: 'second'
  /** The page that its second button leads to, without sending it. */
  back?: string
}

/**
 * A form of a page. Pages make all forms here but the one that signs out: in a viewing nothing can be sent, so that the member
 * reads which form the customer has.
 */
export function formOf(
  visit: Visit,
  { action, isSheet, button, buttonLook, back }: Form,
  fields?: Content,
): Html {
  const { say, language } = visit
  const look = isSheet ? 'sheet' : 'stack'
  const leave = back !== undefined && html`<a class="button second" href=${back}>${say('cancel')}</a>`
  if (visit.viewing !== undefined)
    return html`<div class=${look}>
      ${button !== null && html`<p class="soft" lang="en">The customer has a form here, with the button <q lang=${language}>${button}</q>.</p>`}
      ${leave && html`<div class="actions">${leave}</div>`}
    </div>`
  return html`<form class=${look} method="post" action=${action}>
    ${tokenField(visit)} ${fields}
    <div class="actions">
      ${button !== null && html`<button class=${buttonLook}>${button}</button>`} ${leave}
    </div>
  </form>`
}

export const tokenField = ({ token }: Pick<Visit, 'token'>): Html =>
  html`<input type="hidden" name="_csrf" value=${token} />`
