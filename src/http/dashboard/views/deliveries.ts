import type { KnownDelivery } from '../../../domain/delivery/delivery.ts'
import type { Attempt, Channel } from '../../../domain/delivery/events.ts'
import { WebhookEventName } from '../../../domain/webhook/events.ts'
import { type Content, type Html, html } from '../html.ts'
import type { View } from '../page.ts'
import { ago, moment } from './moments.ts'
import {
  asNamed,
  badge,
  choicesOf,
  empty,
  facts,
  filters,
  heading,
  pager,
  section,
  select,
  type Tone,
  table,
  tokenField,
} from './parts.ts'

type Status = KnownDelivery['status']

const tones: Record<Status, Tone> = { pending: 'warn', delivered: 'good', abandoned: 'bad' }

const channelNames: Record<Channel, string> = { webhook: 'Webhook', mail: 'Mail' }

export const deliveryBadge = ({ status }: KnownDelivery): Html => badge(tones[status], status)

/** `2 tries`, `not tried yet` */
export function deliveryWords({ attempts }: Pick<KnownDelivery, 'attempts'>): string {
  if (attempts.length === 0) return 'not tried yet'
  return attempts.length === 1 ? '1 try' : `${attempts.length} tries`
}

type Deliveries = {
  deliveries: readonly KnownDelivery[]
  filter: { status: Status | undefined; channel: Channel | undefined; event: WebhookEventName | undefined }
  cursor: string | undefined
  next: string | null
}

export function deliveriesView(view: View, { deliveries, filter, cursor, next }: Deliveries): Html {
  const isFiltered = Object.values(filter).some((value) => value !== undefined)
  return html`<div>
    ${heading('Deliveries', 'What left for your webhook and for customers, newest first. What is not taken is tried again after 1, 5 and 30 minutes.')}
    ${filters('/dashboard/deliveries', 'deliveries', [
      select('channel', 'To', choicesOf('Everybody', Object.entries(channelNames), filter.channel)),
      select('event', 'Event', choicesOf('All events', asNamed(WebhookEventName.options), filter.event)),
      select('status', 'Status', choicesOf('Any status', asNamed(Object.keys(tones)), filter.status)),
    ])}
    <div id="deliveries">
      ${
        deliveries.length === 0
          ? noDeliveries(isFiltered)
          : html`<div class="sheeted">${deliveriesTable(view, deliveries)}</div>`
      }
      ${pager('/dashboard/deliveries', { ...filter, cursor }, next)}
    </div>
  </div>`
}

const noDeliveries = (isFiltered: boolean): Html =>
  isFiltered
    ? empty('No delivery is like that', 'Choose another receiver, event or status.')
    : empty(
        'Nothing was delivered yet',
        'Events of licenses are delivered once a webhook is set up, and keys are mailed after sales.',
        html`<a href="/dashboard/settings/webhook">Set up a webhook</a>`,
      )

function deliveriesTable(view: View, deliveries: readonly KnownDelivery[]): Html {
  return table({
    caption: 'Deliveries',
    columns: [
      { label: 'Event' },
      { label: 'To', wide: true },
      { label: 'Status' },
      { label: 'Next try', wide: true },
      { label: 'Since', wide: true },
    ],
    rows: deliveries.map((delivery): Content[] => [
      html`<a href=${`/dashboard/deliveries/${delivery.deliveryId}`}><code>${delivery.event}</code></a>`,
      channelNames[delivery.channel],
      html`<span>${deliveryBadge(delivery)}<span class="sub">${deliveryWords(delivery)}</span></span>`,
      delivery.nextAttemptAt === null ? '–' : ago(delivery.nextAttemptAt, view.now),
      ago(delivery.scheduledAt, view.now),
    ]),
  })
}

type OneDelivery = {
  delivery: KnownDelivery
  /** What the webhook is sent, with the key masked; undefined for a mail. */
  payload: object | undefined
  /** Where the webhook is now. */
  url: string | undefined
  hasMailbox: boolean
  mayRedeliver: boolean
}

export function deliveryView(view: View, one: OneDelivery): Html {
  const { delivery, payload, url, mayRedeliver } = one
  const { deliveryId, channel, event, licenseId, sequence, attempts, nextAttemptAt } = delivery
  return html`<div>
    ${heading(html`<code>${event}</code>`, html`<code>${deliveryId}</code>`, mayRedeliver && redeliver(view, deliveryId))}
    <div class="sheet">
      ${facts([
        ['Status', deliveryBadge(delivery)],
        ['To', receiver(one)],
        ['License', html`<a href=${`/dashboard/licenses/${licenseId}`}><code>${licenseId}</code></a>`],
        ...(sequence === null ? [] : [['Sequence', String(sequence)] as const]),
        ['Since', moment(delivery.scheduledAt)],
        ['Next try', nextAttemptAt === null ? 'none' : moment(nextAttemptAt)],
      ])}
    </div>
    ${section(
      'Tries',
      attempts.length === 0
        ? html`<p class="lead">None was made yet.</p>`
        : html`<div class="sheeted">${attemptsTable(attempts)}</div>`,
      channel === 'webhook' ? 'Any 2xx within 15 seconds is success.' : undefined,
    )}
    ${payload && section('Payload', html`<pre tabindex="0">${JSON.stringify(payload, null, 2)}</pre>`, 'As it is sent, with the key masked.')}
    ${
      payload &&
      url !== undefined &&
      section(
        'Try it yourself',
        html`<pre tabindex="0">${curlOf(url, JSON.stringify(payload))}</pre>`,
        'Sends the same, masked, with a signature of now. SECRET is the signing secret that was shown when the webhook was set.',
      )
    }
  </div>`
}

function receiver({ delivery, url, hasMailbox }: OneDelivery): Content {
  if (delivery.channel === 'webhook')
    return url === undefined ? 'no webhook is set now' : html`<code>${url}</code>`
  if (!hasMailbox || delivery.status !== 'delivered') return 'the customer, by mail'
  return html`<a href=${`/dashboard/mailbox/${delivery.deliveryId}`}>the customer, by mail</a>`
}

function redeliver({ token }: View, deliveryId: string): Html {
  return html`<form method="post" action=${`/dashboard/deliveries/${deliveryId}/redeliver`}>
    ${tokenField(token)}
    <button class="second">Deliver again</button>
  </form>`
}

function attemptsTable(attempts: readonly Attempt[]): Html {
  return table({
    caption: 'Tries',
    columns: [
      { label: 'When' },
      { label: 'Came to' },
      { label: 'Took', wide: true, number: true },
      { label: 'Answer', wide: true },
      { label: 'Next', wide: true },
    ],
    rows: attempts.map(({ at, status, error, durationMs, excerpt, nextAttemptAt }): Content[] => [
      moment(at),
      html`<span>${error === null ? badge('good', 'taken') : badge('bad', error)}${status !== null && html`<span class="sub">${status}</span>`}</span>`,
      `${durationMs} ms`,
      excerpt ? html`<code>${excerpt}</code>` : '–',
      nextAttemptAt === null ? '–' : moment(nextAttemptAt),
    ]),
  })
}

/** One argument of a shell, whatever stands in it. */
const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`

function curlOf(url: string, body: string): string {
  return [
    `BODY=${quoted(body)}`,
    'T=$(date +%s)',
    `V1=$(printf '%s' "$T.$BODY" | openssl dgst -sha256 -hmac "$SECRET" -hex | sed 's/.* //')`,
    `curl -X POST ${quoted(url)} -H 'Content-Type: application/json' \\`,
    `  -H "X-Service-Signature: t=$T,v1=$V1" --data-raw "$BODY"`,
  ].join('\n')
}
