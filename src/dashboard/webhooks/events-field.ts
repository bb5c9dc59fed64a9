import { WebhookEventName } from '../../domain/webhooks/events.ts'
import { type Html, html } from '../../html.ts'
import { whenSent } from '../../webhooks/payloads.ts'
import type { FilledForm } from '../forms/filled-form.ts'
import { checkField } from '../forms/form-fields.ts'

/** A check box for each event. */
export function eventsField(form: FilledForm): Html {
  const { events: problem } = form.problems
  return html`<fieldset aria-describedby=${problem ? 'events-error' : undefined}>
    <legend>Events</legend>
    ${problem && html`<p class="error" id="events-error">${problem}</p>`}
    <div class="checks">
      ${WebhookEventName.options.map((value) =>
        checkField(form, { name: 'events', value, label: value, hint: whenSent[value] }),
      )}
    </div>
  </fieldset>`
}
