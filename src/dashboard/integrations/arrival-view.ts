import type { KnownIntegration } from '../../domain/integrations/integration.ts'
import { providerNames } from '../../domain/integrations/provider.ts'
import { type Html, html } from '../../html.ts'
import type { Arrivals } from '../../usage/arrivals.ts'
import { ago } from '../frame/moments.ts'
import { badge } from '../frame/parts.ts'

/** How often a page that waits for the first notification asks for it. */
const pollEverySeconds = 2

/** Whether a verified notification has arrived since the provider was connected; the page asks again until then. */
export function arrivalPart(
  integration: KnownIntegration,
  { verifiedAt, refusedAt }: Arrivals,
  now: Date,
): Html {
  const { provider, connectedAt } = integration
  const since = Date.parse(connectedAt ?? '')
  const isAfter = (moment: string | null): moment is string => moment !== null && Date.parse(moment) >= since
  const has = isAfter(verifiedAt)
  const isRefused = isAfter(refusedAt) && (!has || Date.parse(refusedAt) > Date.parse(verifiedAt))
  const name = providerNames[provider]
  return html`<div
    id="arrival"
    class="stack-tight"
    aria-live="polite"
    hx-get=${has ? undefined : `/dashboard/integrations/${provider}/arrival`}
    hx-trigger=${has ? undefined : `every ${pollEverySeconds}s`}
    hx-swap=${has ? undefined : 'outerHTML'}
  >
    ${
      has
        ? html`<p>${badge('good', 'arrived')} The last verified notification came ${ago(verifiedAt, now)}.</p>`
        : html`<p>${badge('warn', 'waiting')} No notification from ${name} has arrived since it was connected. Send a test event
            from ${name}, or buy something. This page notices it; without JavaScript, reload it.</p>`
    }
    ${
      isRefused &&
      html`<p>
        ${badge('bad', 'refused')} A notification that could not be verified came ${ago(refusedAt, now)}. If ${name} sent it,
        the secret here is not the one of its endpoint: rotate the secret.
      </p>`
    }
  </div>`
}
