import type { KnownIntegration } from '../../../domain/integration/integration.ts'
import { soldIds } from '../../../domain/integration/mapping.ts'
import type { Missing } from '../../../domain/integration/missing.ts'
import type { Provider } from '../../../domain/integration/provider.ts'
import type { KeyType } from '../../../domain/product/key-type.ts'
import { type Content, type Html, html } from '../html.ts'
import type { View } from '../page.ts'
import { dayOf } from './moments.ts'
import { badge, facts, heading, section } from './parts.ts'

type Shown = { provider: Provider; integration: KnownIntegration | undefined; missing: readonly Missing[] }

type Product = { productId: string; name: string; keyTypes: readonly KeyType[] }

type Integrations = { tenantId: string; providers: readonly Shown[]; products: readonly Product[] }

export const providerNames: Record<Provider, string> = {
  stripe: 'Stripe',
  gumroad: 'Gumroad',
  lemonsqueezy: 'Lemon Squeezy',
  paddle: 'Paddle',
  polar: 'Polar',
}

export function integrationsView(view: View, { tenantId, providers, products }: Integrations): Html {
  return html`<div>
    ${heading('Integrations', 'Where you sell. Each sale there becomes a license here, once nothing is missing.')}
    ${providers.map((shown) =>
      section(
        providerNames[shown.provider],
        html`<div class="sheet stack">
          ${facts([
            ['State', stateBadge(shown)],
            ...since(shown.integration),
            ['Notifications go to', html`<code>${addressOf(view, tenantId, shown.provider)}</code>`],
            ...soldThere(shown, products),
          ])}
          ${shown.missing.length > 0 && missingList(view, tenantId, shown)}
        </div>`,
      ),
    )}
  </div>`
}

function stateBadge({ integration, missing }: Shown): Html {
  if (missing.length === 0) return badge('good', 'ready')
  if (integration?.status === 'connected') return badge('warn', 'connected, not ready')
  return integration?.status === 'onboarding' ? badge('warn', 'onboarding') : badge('plain', 'not connected')
}

const since = (integration: KnownIntegration | undefined): (readonly [string, Content])[] =>
  integration?.connectedAt ? [['Connected since', dayOf(integration.connectedAt)]] : []

function addressOf({ baseUrl }: View, tenantId: string, provider: Provider): string {
  if (provider === 'stripe') return `${baseUrl}/api/stripe/webhook/connect`
  const address = `${baseUrl}/webhooks/${provider}/${tenantId}`
  return provider === 'gumroad' ? `${address}?token=…` : address
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
  return [['Sells', html`<div class="stack-tight">${lines}</div>`]]
}

function missingList(view: View, tenantId: string, { provider, missing }: Shown): Html {
  return html`<div class="stack-tight">
    <h3>What is missing</h3>
    <ol>
      ${missing.map((one) => html`<li>${missingWords(view, tenantId, provider, one)}</li>`)}
    </ol>
  </div>`
}

function missingWords({ baseUrl }: View, tenantId: string, provider: Provider, missing: Missing): Html {
  const name = providerNames[provider]
  switch (missing.what) {
    case 'platform_key':
      return html`<p>The installation has no key of a Stripe platform account. Whoever runs it sets
        <code>KEYLEDGER_STRIPE_SECRET_KEY</code>.</p>`
    case 'notification_secret':
      return html`<p>The installation cannot tell Stripe's notifications from forged ones. Whoever runs it sets
        <code>KEYLEDGER_STRIPE_WEBHOOK_SECRET</code> to the secret of the Connect endpoint.</p>`
    case 'onboarding':
      return html`<p>The onboarding at Stripe was begun and not finished. <code>POST /v1/integrations/stripe/connect</code>
        gives another link to go on with.</p>`
    case 'connection':
      return html`<p>It is not connected. Send <code>POST ${baseUrl}/v1/integrations/${provider}/connect</code>, or on the
        host <code>keyledger integrations connect ${provider} --tenant ${tenantId}</code>.</p>`
    case 'mapping':
      return html`<p>Nothing tells which product a sale is of. Send
        <code>POST ${baseUrl}/v1/products/…/integrations/${provider}</code> with what ${name} calls it.</p>`
    case 'mapping_target':
      return html`<p>${missing.productIds.join(', ')}: what is mapped leads to something that is gone. Sales of it are
        parked until it is mapped anew.</p>`
    case 'price':
      return html`<p>No key type has a price. Send <code>POST ${baseUrl}/v1/products/…/integrations/stripe</code> with the
        price of each key type.</p>`
    case 'checkout_key':
      return html`<p>Your website has no key to begin a checkout with.
        <a href="/dashboard/settings/checkout-key">Make one.</a></p>`
    case 'api_key':
      return html`<p>${name} tells no e-mail address in its notifications, and without an API key it cannot be asked for
        it. Connect it again with <code>apiKey</code>, or send the address as <code>custom_data.email</code>.</p>`
  }
}
