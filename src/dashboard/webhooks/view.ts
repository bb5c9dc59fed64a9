import type { EndpointHealth } from '../../../projections/deliveries/health.ts'
import { sameJson } from '../../domain/equality.ts'
import type { WebhookEndpoint } from '../../domain/webhooks/endpoint.ts'
import { defaultEvents, WebhookEventName } from '../../domain/webhooks/events.ts'
import { type Content, type Html, html } from '../../html.ts'
import { ago, moment } from '../frame/moments.ts'
import type { View } from '../frame/page.ts'
import { badge, copyable, empty, facts, heading, section, tokenField } from '../frame/parts.ts'
import { nameOfEndpoint, orderingNames } from './form.ts'
import { type ReplayShown, replaysView } from './replay-view.ts'

type EndpointShown = { endpoint: WebhookEndpoint; health: EndpointHealth }

type Webhooks = {
  endpoints: readonly EndpointShown[]
  replays: readonly ReplayShown[]
  /** Whether no endpoint can be added. */
  isFull: boolean
}

/** Every endpoint with its health, and the replays. */
export function webhooksView(view: View, { endpoints, replays, isFull }: Webhooks): Html {
  const mayManage = view.may('manage_connections')
  const add = html`<a class="button" href="/dashboard/webhooks/new">Add endpoint</a>`
  return html`<div>
    ${heading(
      'Webhooks',
      'Each license event is sent as a signed POST request to every endpoint that subscribes to it, and retried if it fails.',
      mayManage && !isFull && endpoints.length > 0 && add,
    )}
    ${
      endpoints.length === 0
        ? empty(
            'No webhook endpoints yet',
            'Add a URL that accepts POST requests, for example on your own server.',
            mayManage && add,
          )
        : html`<div class="stack endpoints">${endpoints.map((one) => endpointCard(view, one, mayManage))}</div>`
    }
    ${isFull && html`<p class="hint">A workspace has at most 10 endpoints. Delete one to add another.</p>`}
    ${
      (endpoints.length > 0 || replays.length > 0) &&
      section(
        'Replays',
        html`<div class="stack">
          ${replaysView(
            view,
            replays,
            endpoints.map(({ endpoint }) => endpoint),
            mayManage,
          )}
          ${
            mayManage &&
            endpoints.length > 0 &&
            html`<p><a class="button second" href="/dashboard/webhooks/replays/new">Replay events…</a></p>`
          }
        </div>`,
        'Delivers the events of a time range again, with the same IDs.',
      )
    }
  </div>`
}

function endpointCard(view: View, { endpoint, health }: EndpointShown, mayManage: boolean): Html {
  const { endpointId, url, description, events, ordering, secret, former, pausedAt } = endpoint
  const now = view.now.toISOString()
  const set = nameOfSet(events)
  return html`<section class="sheet stack" aria-labelledby=${`endpoint-${endpointId}`}>
    <div class="endpoint-head">
      <h2 id=${`endpoint-${endpointId}`}>${nameOfEndpoint(endpoint)}</h2>
      ${healthBadge(endpoint, health)}
    </div>
    ${facts([
      description !== '' && (['URL', html`<code>${url}</code>`] as const),
      ['ID', copyable('endpoint ID', endpointId)],
      ['Last delivery', lastDelivery(view, health)],
      ['Last 7 days', counted(health)],
      ['Signing secret', html`<code>${secret.displaySecret}</code>`],
      former !== null &&
        former.validUntil > now &&
        (['Previous secret', html`also signs until ${moment(former.validUntil)}`] as const),
      pausedAt !== null && (['Paused', ago(pausedAt, view.now)] as const),
      ['Order', orderingNames[ordering]],
      set !== undefined && (['Events', set] as const),
    ])}
    ${set === undefined && eventTags(events)}
    <div class="decide">
      ${mayManage && html`<a class="button second" href=${`/dashboard/webhooks/${endpointId}`}>Edit</a>`}
      ${mayManage && pauseForm(view, endpoint)} ${mayManage && testForm(view, endpoint)}
      <a href=${`/dashboard/deliveries?channel=webhook&endpoint=${endpointId}`}>Deliveries</a>
    </div>
  </section>`
}

function healthBadge({ pausedAt }: WebhookEndpoint, { failing, abandoned, last }: EndpointHealth): Html {
  if (pausedAt !== null) return badge('warn', 'paused')
  if (last === null) return badge('plain', 'no deliveries yet')
  if (last.status === 'abandoned') return badge('bad', 'failing')
  if (failing > 0) return badge('warn', 'retrying')
  return abandoned > 0 ? badge('warn', 'working again') : badge('good', 'working')
}

function lastDelivery({ now }: View, { last }: EndpointHealth): Content {
  if (last === null) return 'none'
  return html`<a href=${`/dashboard/deliveries/${last.deliveryId}`}><code>${last.event}</code></a> ${last.status},${' '}
    ${ago(last.scheduledAt, now)}`
}

function counted({ delivered, failing, waiting, abandoned }: EndpointHealth): string {
  const counts = [
    [delivered, 'delivered'],
    [waiting, 'waiting'],
    [failing, 'retrying'],
    [abandoned, 'abandoned'],
  ] as const
  const shown = counts.filter(([count], index) => count > 0 || index === 0)
  return shown.map(([count, what]) => `${count.toLocaleString('en')} ${what}`).join(', ')
}

/** Undefined for events that are neither all nor the default ones. */
function nameOfSet(events: readonly WebhookEventName[]): string | undefined {
  if (events.length === WebhookEventName.options.length) return 'all'
  return sameJson(events, defaultEvents) ? 'the default ones' : undefined
}

const eventTags = (events: readonly WebhookEventName[]): Html =>
  html`<p class="tags">${events.map((name) => html`<code class="badge plain">${name}</code>`)}</p>`

function pauseForm({ token }: View, { endpointId, pausedAt }: WebhookEndpoint): Html {
  const isPaused = pausedAt !== null
  return html`<form method="post" action=${`/dashboard/webhooks/${endpointId}/pause`}>
    ${tokenField(token)}
    <input type="hidden" name="paused" value=${isPaused ? 'no' : 'yes'} />
    <button class="second">${isPaused ? 'Resume' : 'Pause'}</button>
  </form>`
}

function testForm({ token }: View, { endpointId }: WebhookEndpoint): Html {
  return html`<form method="post" action=${`/dashboard/webhooks/${endpointId}/test`}>
    ${tokenField(token)}
    <button class="second">Send test</button>
  </form>`
}
