import type { KnownDelivery } from '../../domain/deliveries/delivery.ts'
import { type Attempt, type Bounce, type Channel, DeliveryEventName } from '../../domain/deliveries/events.ts'
import { type BounceKind, mailSenders } from '../../domain/mails/senders.ts'
import type { WebhookEndpoint } from '../../domain/webhooks/endpoint.ts'
import { type Content, type Html, html } from '../../html.ts'
import { ago, moment } from '../frame/moments.ts'
import type { View } from '../frame/page.ts'
import {
  asNamed,
  badge,
  choicesOf,
  copyable,
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
} from '../frame/parts.ts'
import { customerLine, keptCustomer } from '../lists/lists.ts'

type Status = KnownDelivery['status']

const tones: Record<Status, Tone> = { pending: 'warn', delivered: 'good', abandoned: 'bad' }

const channelNames: Record<Channel, string> = { webhook: 'Webhook', mail: 'Email' }

/** What a delivery by mail is called. */
export const mailWords = ({ event }: Pick<KnownDelivery, 'event'>): string => {
  if (event === 'license.expiring') return 'Email before the expiry'
  if (event === 'license.renewal_failed') return 'Email about the failed renewal'
  return event === 'license.expired' ? 'Email about the expiry' : 'License key email'
}

const bounceTones: Record<BounceKind, Tone> = { permanent: 'bad', transient: 'warn', complaint: 'bad' }
const bounceNames: Record<BounceKind, string> = {
  permanent: 'bounced',
  transient: 'bounced for now',
  complaint: 'marked as spam',
}

const bounceBadge = ({ kind }: Bounce): Html => badge(bounceTones[kind], bounceNames[kind])

/** What became of a delivery: a mail that its server had accepted may have bounced since. */
export function deliveryBadge({ status, bounces }: KnownDelivery): Html {
  const bounce = bounces.at(-1)
  return bounce ? bounceBadge(bounce) : badge(tones[status], status)
}

/** `2 attempts`, `not attempted yet` */
export function deliveryWords({ attempts }: Pick<KnownDelivery, 'attempts'>): string {
  if (attempts.length === 0) return 'not attempted yet'
  return attempts.length === 1 ? '1 attempt' : `${attempts.length} attempts`
}

type Deliveries = {
  deliveries: readonly KnownDelivery[]
  /** The delivery that each one waits for, by its id; none for most. */
  waitedFor: ReadonlyMap<string, string>
  filter: {
    status: Status | undefined
    channel: Channel | undefined
    event: DeliveryEventName | undefined
    endpoint: string | undefined
    customer: string | undefined
  }
  /** What people call each webhook endpoint, by its id. */
  names: ReadonlyMap<string, string>
  cursor: string | undefined
  next: string | null
}

export function deliveriesView(view: View, shown: Deliveries): Html {
  const { deliveries, filter, names, cursor, next } = shown
  const isFiltered = Object.values(filter).some((value) => value !== undefined)
  return html`<div>
    ${heading('Deliveries', 'Webhook and email deliveries, newest first. Failed deliveries are retried after 1, 5 and 30 minutes.')}
    ${filters('/dashboard/deliveries', 'deliveries', [
      keptCustomer(filter.customer),
      select('channel', 'Channel', choicesOf('All channels', Object.entries(channelNames), filter.channel)),
      select('event', 'Event', choicesOf('All events', asNamed(DeliveryEventName.options), filter.event)),
      names.size > 1 &&
        select('endpoint', 'Endpoint', choicesOf('All endpoints', [...names], filter.endpoint)),
      select('status', 'Status', choicesOf('Any status', asNamed(Object.keys(tones)), filter.status)),
    ])}
    <div id="deliveries">
      ${customerLine(filter.customer, '/dashboard/deliveries', 'Show all deliveries')}
      ${
        deliveries.length === 0
          ? noDeliveries(view, isFiltered)
          : html`<div class="sheeted">${deliveriesTable(view, shown)}</div>`
      }
      ${pager('/dashboard/deliveries', { ...filter, cursor }, next)}
    </div>
  </div>`
}

const noDeliveries = (view: View, isFiltered: boolean): Html =>
  isFiltered
    ? empty('No deliveries match these filters', 'Choose another channel, event or status.')
    : empty(
        'No deliveries yet',
        'License events are delivered once there is a webhook endpoint. License keys are emailed after sales.',
        view.may('manage_connections') && html`<a href="/dashboard/webhooks/new">Add endpoint</a>`,
      )

export function deliveriesTable(
  view: View,
  { deliveries, waitedFor, names }: Pick<Deliveries, 'deliveries' | 'waitedFor' | 'names'>,
): Html {
  return table({
    caption: 'Deliveries',
    columns: [
      { label: 'Event' },
      { label: 'To', wide: true },
      { label: 'License', wide: true },
      { label: 'Status' },
      { label: 'Next attempt', wide: true },
      { label: 'Scheduled', wide: true },
    ],
    rows: deliveries.map((delivery): Content[] => [
      html`<a href=${`/dashboard/deliveries/${delivery.deliveryId}`}><code>${delivery.event}</code></a>`,
      html`<span>${channelNames[delivery.channel]}<span class="sub">${receiverName(delivery, names)}</span></span>`,
      html`<a href=${`/dashboard/licenses/${delivery.licenseId}`}><code>${delivery.licenseId}</code></a>`,
      html`<span>${deliveryBadge(delivery)}<span class="sub">${deliveryWords(delivery)}</span></span>`,
      nextAttempt(view, delivery, waitedFor.get(delivery.deliveryId)),
      ago(delivery.scheduledAt, view.now),
    ]),
  })
}

function nextAttempt({ now }: View, { nextAttemptAt }: KnownDelivery, waitsFor: string | undefined): Content {
  if (nextAttemptAt === null) return '–'
  if (waitsFor === undefined) return ago(nextAttemptAt, now)
  return html`<a href=${`/dashboard/deliveries/${waitsFor}`}>after the one before it</a>`
}

const receiverName = ({ channel, endpointId }: KnownDelivery, names: Deliveries['names']): string =>
  channel === 'mail' ? 'the customer' : (names.get(endpointId ?? '') ?? 'deleted endpoint')

type OneDelivery = {
  delivery: KnownDelivery
  /** The delivery before it, while that one has to go first. */
  waitsFor: string | undefined
  /** The payload with the key masked; undefined for a mail. */
  payload: object | undefined
  /** The webhook endpoint as it is now; undefined for a mail, and once it is deleted. */
  endpoint: WebhookEndpoint | undefined
  hasMailbox: boolean
  mayRedeliver: boolean
}

export function deliveryView(view: View, one: OneDelivery): Html {
  const { delivery, waitsFor, payload, endpoint, mayRedeliver } = one
  const { deliveryId, channel, event, licenseId, sequence, attempts, nextAttemptAt } = delivery
  return html`<div>
    ${heading(html`<code>${event}</code>`, copyable('delivery ID', deliveryId), mayRedeliver && redeliver(view, deliveryId))}
    <div class="sheet">
      ${facts([
        ['Status', deliveryBadge(delivery)],
        ['To', receiver(one)],
        ['License', html`<a href=${`/dashboard/licenses/${licenseId}`}><code>${licenseId}</code></a>`],
        ...(sequence === null ? [] : [['Sequence', String(sequence)] as const]),
        ['Scheduled', moment(delivery.scheduledAt)],
        waitsFor === undefined
          ? ['Next attempt', nextAttemptAt === null ? 'none' : moment(nextAttemptAt)]
          : ['Waits for', waitsForWords(waitsFor)],
      ])}
    </div>
    ${section(
      'Attempts',
      attempts.length === 0
        ? html`<p class="lead">No attempts yet.</p>`
        : html`<div class="sheeted">${attemptsTable(attempts)}</div>`,
      channel === 'webhook' ? 'Any 2xx response within 15 seconds counts as success.' : undefined,
    )}
    ${delivery.bounces.length > 0 && section('Bounces', html`<div class="sheeted">${bouncesTable(delivery.bounces)}</div>`, 'What the service that sends the mails told afterward.')}
    ${payload && section('Payload', html`<pre tabindex="0">${JSON.stringify(payload, null, 2)}</pre>`, 'As sent, with the key masked.')}
    ${
      payload &&
      endpoint &&
      section(
        'Test request',
        html`<pre tabindex="0">${curlOf(endpoint.url, JSON.stringify(payload))}</pre>`,
        'Sends the same masked payload, signed with the current time. SECRET is the signing secret that was shown when the endpoint was added.',
      )
    }
  </div>`
}

const waitsForWords = (waitsFor: string): Html =>
  html`the delivery before it, <a href=${`/dashboard/deliveries/${waitsFor}`}><code>${waitsFor}</code></a>: this
    endpoint gets the events of each license in order`

function receiver({ delivery, endpoint, hasMailbox }: OneDelivery): Content {
  if (delivery.channel === 'webhook') {
    if (!endpoint) return 'a webhook endpoint that was deleted'
    return html`<code>${endpoint.url}</code>${endpoint.pausedAt !== null && html` ${badge('warn', 'paused')}`}`
  }
  if (!hasMailbox || delivery.status !== 'delivered') return 'the customer, by email'
  return html`<a href=${`/dashboard/mailbox/${delivery.deliveryId}`}>the customer, by email</a>`
}

function redeliver({ token }: View, deliveryId: string): Html {
  return html`<form method="post" action=${`/dashboard/deliveries/${deliveryId}/redeliver`}>
    ${tokenField(token)}
    <button class="second">Redeliver</button>
  </form>`
}

function attemptsTable(attempts: readonly Attempt[]): Html {
  return table({
    caption: 'Attempts',
    columns: [
      { label: 'Time' },
      { label: 'Result' },
      { label: 'Duration', wide: true, number: true },
      { label: 'Response', wide: true },
      { label: 'Next attempt', wide: true },
    ],
    rows: attempts.map(({ at, status, error, durationMs, excerpt, nextAttemptAt }): Content[] => [
      moment(at),
      html`<span>${error === null ? badge('good', 'succeeded') : badge('bad', error)}${status !== null && html`<span class="sub">${status}</span>`}</span>`,
      durationMs === null ? '–' : `${durationMs} ms`,
      responseOf(error, excerpt),
      nextAttemptAt === null ? '–' : moment(nextAttemptAt),
    ]),
  })
}

function bouncesTable(bounces: readonly Bounce[]): Html {
  return table({
    caption: 'Bounces',
    columns: [{ label: 'Time' }, { label: 'Bounce' }, { label: 'Status' }, { label: 'Told by', wide: true }],
    rows: bounces.map((bounce): Content[] => [
      moment(bounce.at),
      bounceBadge(bounce),
      bounce.status ?? '–',
      mailSenders[bounce.sender].name,
    ]),
  })
}

function responseOf(error: Attempt['error'], excerpt: string | null): Content {
  if (error === 'unknown') return 'The process ended before the response was recorded.'
  return excerpt ? html`<code>${excerpt}</code>` : '–'
}

/** Text as one quoted shell argument. */
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
