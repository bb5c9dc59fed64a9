import { WebhookEventName } from '../../domain/webhooks/events.ts'
import { type Html, html } from '../../html.ts'
import type { FilledForm } from '../forms/filled-form.ts'
import { checkField } from '../forms/form-fields.ts'

const eventWords: Record<WebhookEventName, string> = {
  'license.created': 'A license was issued; for a sale the event contains the key',
  'license.activated': 'A device was activated',
  'license.deactivated': 'A device was deactivated',
  'license.expired': 'A license expired or fell back',
  'license.renewed': 'A license was renewed',
  'license.updated': "A license's key type, quantity or expiry changed",
  'license.refunded': 'A payment was refunded',
  'license.suspended': 'A license was suspended',
  'license.resumed': 'A suspended license was resumed',
  'license.reinstated': 'A payment is valid again, for example after a won dispute',
  'license.revoked': 'A license was revoked',
  'license.reminted': 'A license was reminted',
}

/** A check box for each event. */
export function eventsField(form: FilledForm): Html {
  const { events: problem } = form.problems
  return html`<fieldset aria-describedby=${problem ? 'events-error' : undefined}>
    <legend>Events</legend>
    ${problem && html`<p class="error" id="events-error">${problem}</p>`}
    <div class="checks">
      ${WebhookEventName.options.map((value) =>
        checkField(form, { name: 'events', value, label: value, hint: eventWords[value] }),
      )}
    </div>
  </fieldset>`
}
