import type { WebhookEndpoint } from '../../domain/webhooks/endpoint.ts'
import { type Html, html } from '../../html.ts'
import type { TestAnswer } from '../../webhooks/test-answer.ts'
import type { FilledForm } from '../forms/filled-form.ts'
import { choiceField, formProblem, textField } from '../forms/form-fields.ts'
import type { View } from '../frame/page.ts'
import { badge, facts, heading, secretBox, section, tokenField } from '../frame/parts.ts'
import { eventsField, nameOfEndpoint, orderingNames } from './form.ts'

type FormTarget = { action: string; operation: string }

/** The form of a new endpoint. */
export const endpointFormView = (view: View, form: FilledForm, target: FormTarget): Html => html`<div>
  ${heading('Add endpoint', 'The signing secret is shown once, on the next page.')}
  ${endpointForm(view, form, target, 'Add endpoint')}
</div>`

function endpointForm(
  { token }: View,
  form: FilledForm,
  { action, operation }: FormTarget,
  button: string,
): Html {
  return html`<form class="sheet stack" method="post" action=${action}>
    ${tokenField(token)} ${formProblem(form)}
    <input type="hidden" name="operation" value=${operation} />
    ${textField(form, {
      name: 'url',
      label: 'URL',
      type: 'url',
      hint: 'An https URL with a public address.',
      maxlength: 2048,
    })}
    ${textField(form, {
      name: 'description',
      label: 'Description (optional)',
      hint: 'What the endpoint is for.',
      required: false,
      maxlength: 200,
    })}
    ${choiceField(form, {
      name: 'ordering',
      label: 'Order of events',
      hint: 'In order, an event waits while an earlier one of the same license is retried. Other licenses do not wait.',
      choices: Object.entries(orderingNames),
    })}
    ${eventsField(form)}
    <div class="decide">
      <button>${button}</button>
      <a class="button second" href="/dashboard/webhooks">Cancel</a>
    </div>
  </form>`
}

/** One endpoint: its form, a test, its secret, and its deletion. */
export function endpointView(
  view: View,
  endpoint: WebhookEndpoint,
  form: FilledForm,
  operation: string,
): Html {
  const at = `/dashboard/webhooks/${endpoint.endpointId}`
  const hidden = html`${tokenField(view.token)}<input type="hidden" name="operation" value=${operation} />`
  return html`<div>
    ${heading(nameOfEndpoint(endpoint), html`<code>${endpoint.endpointId}</code>`)}
    ${endpointForm(view, form, { action: at, operation }, 'Save')}
    ${section(
      'Test',
      html`<form class="sheet stack" method="post" action=${`${at}/test`}>
        ${tokenField(view.token)} ${eventChoice(endpoint)}
        <div><button class="second">Send test</button></div>
      </form>`,
      'Sends one signed event with sample values, marked as a test, and shows what the endpoint answers.',
    )}
    ${section(
      'Signing secret',
      html`<details>
        <summary>Rotate secret…</summary>
        <form class="stack-tight" method="post" action=${`${at}/rotate-secret`}>
          ${hidden}
          <p>The new secret is shown once. <code>${endpoint.secret.displaySecret}</code> also signs for another 24 hours.</p>
          <div><button>Rotate secret</button></div>
        </form>
      </details>`,
    )}
    ${section(
      'Deletion',
      html`<details>
        <summary>Delete endpoint…</summary>
        <form class="stack-tight" method="post" action=${`${at}/delete`}>
          ${hidden}
          <p>Pending deliveries are abandoned, and the signing secret is destroyed. To stop for a while, pause the endpoint.</p>
          <div><button class="dangerous">Delete endpoint</button></div>
        </form>
      </details>`,
    )}
  </div>`
}

const eventChoice = ({ events }: WebhookEndpoint): Html => html`<div class="field">
  <label for="event">Event</label>
  <select id="event" name="event">
    ${events.map((name) => html`<option value=${name}>${name}</option>`)}
  </select>
</div>`

/** What an endpoint answered to a test event. */
export function testAnswerView({ token }: View, endpoint: WebhookEndpoint, answer: TestAnswer): Html {
  const { ok, status, error, durationMs, excerpt, event, id } = answer
  return html`<div>
    ${heading('Test event', html`Sent to <code>${endpoint.url}</code>`)}
    <div class="sheet stack">
      ${facts([
        ['Result', ok ? badge('good', 'received') : badge('bad', error ?? 'failed')],
        ['Status', status === null ? 'no response' : String(status)],
        ['Duration', `${durationMs} ms`],
        ['Event', html`<code>${event}</code>`],
        ['Event ID', html`<code>${id}</code>`],
      ])}
      ${excerpt !== null && html`<pre tabindex="0">${excerpt}</pre>`}
      ${!ok && html`<p class="hint">A delivery succeeds with any 2xx response within 15 seconds.</p>`}
      <div class="decide">
        <form method="post" action=${`/dashboard/webhooks/${endpoint.endpointId}/test`}>
          ${tokenField(token)}
          <input type="hidden" name="event" value=${event} />
          <button class="second">Send again</button>
        </form>
        <a class="button second" href="/dashboard/webhooks">Back to webhooks</a>
      </div>
    </div>
  </div>`
}

/** A new signing secret, shown once. */
export const secretView = (url: string, secret: string): Html => html`<div class="narrow">
  ${heading(
    'Signing secret',
    html`License events are delivered to <code>${url}</code>. Copy the secret now: you need it to verify signatures,
      and it is shown only once.`,
  )}
  <div class="sheet stack">
    ${secretBox('Signing secret', secret)}
    <p><a class="button second" href="/dashboard/webhooks">I have copied it</a></p>
  </div>
</div>`
