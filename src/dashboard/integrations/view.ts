import type { KnownIntegration } from '../../domain/integrations/integration.ts'
import { soldIds } from '../../domain/integrations/mapping.ts'
import type { Missing } from '../../domain/integrations/missing.ts'
import { type Provider, providerNames } from '../../domain/integrations/provider.ts'
import type { KeyType } from '../../domain/products/key-type.ts'
import { type Content, type Html, html } from '../../html.ts'
import type { Arrivals } from '../../usage/arrivals.ts'
import { ago, dayOf } from '../frame/moments.ts'
import type { View } from '../frame/page.ts'
import { badge, copyable, facts, heading, section } from '../frame/parts.ts'
import { notificationAddressOf, unreachableNotice } from './notification-address.ts'

type Shown = { provider: Provider; integration: KnownIntegration | undefined; missing: readonly Missing[] }

type Product = { productId: string; name: string; keyTypes: readonly KeyType[] }

type Integrations = { tenantId: string; providers: readonly Shown[]; products: readonly Product[] }

export function integrationsView(view: View, { tenantId, providers, products }: Integrations): Html {
  return html`<div>
    ${heading('Integrations', 'Payment providers that report sales. Once the setup is complete, each sale creates a license.')}
    ${unreachableNotice(view.baseUrl)}
    ${providers.map((shown) =>
      section(
        providerNames[shown.provider],
        html`<div class="sheet stack">
          ${facts([
            ['Status', stateBadge(shown)],
            ...since(shown.integration),
            ['Notification URL', addressOf(view, tenantId, shown)],
            ...soldThere(shown, products),
          ])}
          ${shown.missing.length > 0 && missingList(view, shown)}
          <p><a class="button second" href=${`/dashboard/integrations/${shown.provider}`}>${manageLabel(view, shown)}</a></p>
        </div>`,
      ),
    )}
  </div>`
}

function manageLabel({ may }: View, { provider, integration }: Shown): string {
  const verb = integration?.status === 'connected' || !may('manage_connections') ? 'View' : 'Set up'
  return `${verb} ${providerNames[provider]}`
}

function stateBadge({ integration, missing }: Shown): Html {
  if (missing.length === 0) return badge('good', 'ready')
  if (integration?.status === 'connected') return badge('warn', 'connected, not ready')
  return integration?.status === 'onboarding' ? badge('warn', 'onboarding') : badge('plain', 'not connected')
}

const since = (integration: KnownIntegration | undefined): (readonly [string, Content])[] =>
  integration?.connectedAt ? [['Connected since', dayOf(integration.connectedAt)]] : []

function addressOf({ baseUrl }: View, tenantId: string, { provider, integration }: Shown): Content {
  const address = notificationAddressOf({ baseUrl, tenantId, provider, integration })
  return address === undefined
    ? 'Shown once, when Gumroad is connected: it holds a secret.'
    : copyable('notification URL', address)
}

/** Which products are sold there, and as what. */
function soldThere(
  { provider, integration }: Shown,
  products: readonly Product[],
): (readonly [string, Content])[] {
  const sold =
    provider === 'stripe'
      ? products.flatMap(({ productId, keyTypes }) => {
          const ids = keyTypes.flatMap(({ price }) => (price === null ? [] : [price.priceId]))
          return ids.length === 0 ? [] : [{ productId, ids }]
        })
      : (integration?.mappings ?? []).map(({ productId, mapping }) => ({ productId, ids: soldIds(mapping) }))
  if (sold.length === 0) return []
  const lines = sold.map(({ productId, ids }) => {
    const name = products.find((product) => product.productId === productId)?.name ?? productId
    return html`<span
      ><a href=${`/dashboard/products/${productId}`}>${name}</a><span class="sub mono">${ids.join(', ')}</span></span
    >`
  })
  return [['Products', html`<div class="stack-tight">${lines}</div>`]]
}

const setUp = (provider: Provider, label: string): Html =>
  html`<a href=${`/dashboard/integrations/${provider}`}>${label}</a>`

function missingList(view: View, { provider, missing }: Shown): Html {
  return html`<div class="stack-tight">
    <h3>Missing setup</h3>
    <ol>
      ${missing.map((one) => html`<li>${missingWords(view, provider, one)}</li>`)}
    </ol>
  </div>`
}

function missingWords({ may }: View, provider: Provider, missing: Missing): Html {
  const name = providerNames[provider]
  switch (missing.what) {
    case 'platform_key':
      return html`<p>No key of a Stripe platform account is configured. The operator of this installation must set${' '}
        <code>KEYLEDGER_STRIPE_SECRET_KEY</code>.</p>`
    case 'notification_secret':
      return html`<p>Stripe notifications cannot be verified. The operator of this installation must set${' '}
        <code>KEYLEDGER_STRIPE_WEBHOOK_SECRET</code> to the signing secret of the Connect endpoint.</p>`
    case 'onboarding':
      return html`<p>The Stripe onboarding was started but not finished. ${setUp(provider, 'Continue')}</p>`
    case 'connection':
      return html`<p>Not connected. ${setUp(provider, 'Connect')}</p>`
    case 'mapping':
      return html`<p>No product is mapped, so sales cannot be matched to one. ${setUp(provider, 'Map products')}</p>`
    case 'mapping_target':
      return html`<p>The mapping of ${missing.productIds.join(', ')} points to a product or key type that no longer exists. Its
        sales are parked until you map it again.</p>`
    case 'price':
      return html`<p>No key type has a price. ${setUp(provider, 'Map prices')}</p>`
    case 'checkout_key':
      return html`<p>Your website has no checkout key. ${may('manage_connections') && html`<a href="/dashboard/settings/checkout-key">Create checkout key</a>`}</p>`
    case 'api_key':
      return html`<p>Notifications from ${name} contain no email address, and looking it up needs an API key. Connect again
        with one, or send the address as <code>custom_data.email</code>.</p>`
  }
}

/** How often a page that waits for the first notification asks for it. */
const pollEverySeconds = 2

/** Whether a verified notification has arrived since the provider was connected; the page asks again until then. */
export function arrivalPart(
  integration: KnownIntegration,
  { verifiedAt, refusedAt }: Arrivals,
  now: Date,
): Html {
  const { provider, connectedAt } = integration
  const connectedMs = Date.parse(connectedAt ?? '')
  const isAfter = (moment: string | null): moment is string =>
    moment !== null && Date.parse(moment) >= connectedMs
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
