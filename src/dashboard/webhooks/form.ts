import { z } from 'zod'
import { isId } from '../../credentials/id.ts'
import type { RefusalCode } from '../../domain/refusal.ts'
import type { WebhookEndpoint } from '../../domain/webhooks/endpoint.ts'
import { Ordering, WebhookEventName } from '../../domain/webhooks/events.ts'
import { webhookUrl } from '../../gate/operations/set-webhook.ts'
import { type Html, html } from '../../html.ts'
import { whenSent } from '../../webhooks/payloads.ts'
import type { FilledForm } from '../forms/filled-form.ts'
import { checkField } from '../forms/form-fields.ts'
import { boxes, line } from '../forms/forms.ts'

const notUrl = 'Enter a valid URL that starts with https://.'

/** Created with the form, so that sending it twice changes things once. */
const operation = z.string().refine((id) => isId('req', id))

/** The form of a new or a changed endpoint. */
export const EndpointForm = z.object({
  operation,
  url: z
    .string({ error: notUrl })
    .trim()
    .refine((url) => webhookUrl.safeParse(url).success && /^https?:\/\//i.test(url), notUrl),
  description: z.string().trim().max(200, 'Enter at most 200 characters.').default(''),
  ordering: Ordering.optional(),
  events: boxes.pipe(z.array(WebhookEventName).min(1, 'Choose at least one event.')),
})

export const OperationForm = z.object({ operation })
export const PauseForm = z.object({ paused: z.enum(['yes', 'no']) })
export const TestForm = z.object({ event: WebhookEventName.optional() })

/** The field that each refusal concerns. */
export const fieldOf: Partial<Record<RefusalCode, readonly [field: string, sentence: string]>> = {
  webhook_target_not_https: ['url', 'Enter a URL that starts with https://.'],
  webhook_target_has_credentials: [
    'url',
    'Leave the user name and the password out of the URL; verify the signature instead.',
  ],
  webhook_target_not_public: ['url', 'Enter a URL whose host has public addresses only.'],
}

/** A moment as a form sends it, in UTC. */
const minute = (message: string) =>
  z
    .string({ error: message })
    .trim()
    .regex(/^\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(?::\d{2})?$/, message)
    .transform((text, context) => {
      const at = new Date(`${text.replace(' ', 'T')}Z`)
      if (!Number.isNaN(at.getTime())) return at.toISOString()
      context.addIssue({ code: 'custom', message })
      return z.NEVER
    })

const example = 'Enter a date and a time, such as 2026-11-21 09:30.'

/** The form of a replay. */
export const ReplayForm = z
  .object({
    operation,
    endpoint: line(100),
    from: minute(example),
    to: z.union([z.literal('').transform(() => undefined), minute(example)], { error: example }).optional(),
    only: z.enum(['failed', 'all']),
    events: boxes.pipe(z.array(WebhookEventName).min(1, 'Choose at least one event.')),
  })
  .refine(({ from, to }) => to === undefined || from < to, {
    path: ['to'],
    message: 'Enter a time after the beginning.',
  })

/** What people call an endpoint: its description, or its address. */
export const nameOfEndpoint = ({ description, url }: WebhookEndpoint): string =>
  description === '' ? url : description

export const orderingNames: Record<Ordering, string> = {
  license: 'In order for each license',
  none: 'As fast as possible',
}

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
