import type { ReplayedDeliveries } from '../../../projections/replays.ts'
import type { KnownReplay } from '../../domain/replays/replay.ts'
import type { WebhookEndpoint } from '../../domain/webhooks/endpoint.ts'
import { type Content, type Html, html } from '../../html.ts'
import type { FilledForm } from '../forms/filled-form.ts'
import { choiceField, formProblem, textField } from '../forms/form-fields.ts'
import { ago, moment } from '../frame/moments.ts'
import type { View } from '../frame/page.ts'
import { badge, heading, type Tone, table, tokenField } from '../frame/parts.ts'
import { eventsField, nameOfEndpoint } from './form.ts'

/** A replay, and what became of its deliveries; undefined before the first. */
export type ReplayShown = { replay: KnownReplay; counts: ReplayedDeliveries | undefined }

const tones: Record<KnownReplay['status'], Tone> = {
  running: 'warn',
  paused: 'warn',
  finished: 'good',
  canceled: 'plain',
}

/** The latest replays with their progress. A running one is shown anew by itself, with JavaScript. */
export function replaysView(
  view: View,
  replays: readonly ReplayShown[],
  endpoints: readonly WebhookEndpoint[],
  mayManage: boolean,
): Html {
  const isRunning = replays.some(({ replay }) => replay.status === 'running')
  return html`<div
    id="replays"
    hx-get=${isRunning ? '/dashboard/webhooks' : undefined}
    hx-trigger=${isRunning ? 'every 2s' : undefined}
    hx-select=${isRunning ? '#replays' : undefined}
    hx-swap=${isRunning ? 'outerHTML' : undefined}
  >
    ${
      replays.length === 0
        ? html`<p class="hint">No replays yet.</p>`
        : html`<div class="sheeted">${replayTable(view, replays, endpoints, mayManage)}</div>`
    }
  </div>`
}

function replayTable(
  view: View,
  replays: readonly ReplayShown[],
  endpoints: readonly WebhookEndpoint[],
  mayManage: boolean,
): Html {
  const names = new Map(endpoints.map((endpoint) => [endpoint.endpointId, nameOfEndpoint(endpoint)]))
  return table({
    caption: 'Replays',
    columns: [
      { label: 'Range' },
      { label: 'Endpoint', wide: true },
      { label: 'Progress' },
      { label: 'Requested', wide: true },
    ],
    rows: replays.map(({ replay, counts }): Content[] => [
      html`<span>${moment(replay.from)} –<br />${moment(replay.to)}<span class="sub">${replay.only === 'all' ? 'all events' : 'failed only'}</span></span>`,
      names.get(replay.endpointId) ?? html`<code>${replay.endpointId}</code>`,
      html`<div>${progress(replay, counts)}${mayManage && actions(view, replay)}</div>`,
      ago(replay.requestedAt, view.now),
    ]),
  })
}

function progress({ status, total, done }: KnownReplay, counts: ReplayedDeliveries | undefined): Html {
  const { delivered = 0, pending = 0, failed = 0 } = counts ?? {}
  const words = [`${delivered} delivered`, `${pending} pending`, `${failed} failed`].join(', ')
  const most = Math.max(total, done, 1)
  return html`<span>
    ${badge(tones[status], status)}
    <progress max=${String(most)} value=${String(status === 'finished' ? most : done)} aria-label="Progress"></progress>
    <span class="sub">${done} of ${Math.max(total, done)} started; ${words}</span>
  </span>`
}

function actions({ token }: View, { replayId, status }: KnownReplay): Content {
  if (status === 'finished' || status === 'canceled') return null
  const button = (what: 'pause' | 'resume' | 'cancel', label: string) =>
    html`<form method="post" action=${`/dashboard/webhooks/replays/${replayId}/${what}`}>
      ${tokenField(token)}<button class="second">${label}</button>
    </form>`
  return html`<div class="decide">
    ${status === 'running' ? button('pause', 'Pause') : button('resume', 'Resume')} ${button('cancel', 'Cancel')}
  </div>`
}

/** The form of a replay. */
export function replayFormView(
  { token }: View,
  form: FilledForm,
  endpoints: readonly WebhookEndpoint[],
  operation: string,
): Html {
  return html`<div>
    ${heading('Replay events', 'Delivers the events of a time range again, with the same IDs, so that your server can drop duplicates. New events are not delayed.')}
    <form class="sheet stack" method="post" action="/dashboard/webhooks/replays">
      ${tokenField(token)} ${formProblem(form)}
      <input type="hidden" name="operation" value=${operation} />
      ${choiceField(form, {
        name: 'endpoint',
        label: 'Endpoint',
        choices: endpoints.map((endpoint) => [endpoint.endpointId, nameOfEndpoint(endpoint)] as const),
      })}
      ${textField(form, { name: 'from', label: 'From (UTC)', hint: 'Such as 2026-11-21 09:30.' })}
      ${textField(form, {
        name: 'to',
        label: 'To (UTC, optional)',
        hint: 'Up to now if left empty.',
        required: false,
      })}
      ${choiceField(form, {
        name: 'only',
        label: 'Deliveries',
        hint: 'All events include those that were delivered, and those from before the endpoint was added.',
        choices: [
          ['failed', 'Failed deliveries only'],
          ['all', 'All events'],
        ],
      })}
      ${eventsField(form)}
      <div class="decide">
        <button>Start replay</button>
        <a class="button second" href="/dashboard/webhooks">Cancel</a>
      </div>
    </form>
  </div>`
}
