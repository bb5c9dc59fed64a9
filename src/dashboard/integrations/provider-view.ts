import type { PresentProduct } from '../../../projections/products/queries.ts'
import { canBeAsked } from '../../commands/integrations/offered.ts'
import type { KnownIntegration } from '../../domain/integrations/integration.ts'
import { type Provider, providerNames } from '../../domain/integrations/provider.ts'
import { type Content, type Html, html } from '../../html.ts'
import { pingUrlOf, resourcesUrlOf } from '../../payments/addresses.ts'
import type { Arrivals } from '../../usage/arrivals.ts'
import type { UseReports } from '../../usage/use-reports.ts'
import type { FilledForm } from '../forms/filled-form.ts'
import { choiceField, formProblem, textField } from '../forms/form-fields.ts'
import { dayOf } from '../frame/moments.ts'
import type { View } from '../frame/page.ts'
import {
  badge,
  copyable,
  facts,
  heading,
  notice,
  secretBox,
  section,
  table,
  tokenField,
} from '../frame/parts.ts'
import { keyTypeChoices } from '../sales/map-sale-view.ts'
import { creditPacksPart, unmapForm } from './credit-packs-view.ts'
import { endpointForm } from './endpoint-view.ts'
import { type Item, itemsOf } from './mapped-items.ts'
import { notificationAddressOf, unreachableNotice } from './notification-address.ts'
import { fieldWords, itemWords, stepsAt } from './steps.ts'
import { useReportsPart } from './use-reports.ts'
import { arrivalPart } from './view.ts'

type Platform = { hasPlatformKey: boolean; platformFeeBasisPoints: number }

type Shown = {
  tenantId: string
  provider: Provider
  integration: KnownIntegration | undefined
  /** Those that a mapping can be made for. */
  products: readonly PresentProduct[]
  /** All that are sold at the provider. */
  sold: readonly PresentProduct[]
  arrivals: Arrivals
  /** Of Stripe. */
  useReports: UseReports | undefined
  baseUrl: string
  operation: string
  platform: Platform
  form: FilledForm
}

const at = (provider: Provider) => `/dashboard/integrations/${provider}`

export function providerView(view: View, shown: Shown): Html {
  const { provider, integration } = shown
  const isConnected = integration?.status === 'connected'
  return html`<div>
    ${heading(providerNames[provider], isConnected ? 'Sales that it reports become licenses.' : 'Connect it, so that its sales become licenses.')}
    ${formProblem(shown.form)} ${unreachableNotice(shown.baseUrl)}
    ${isConnected ? connectedParts(view, shown, integration) : connectingParts(view, shown)}
    ${isConnected && mappingPart(view, shown, integration)}
    ${isConnected && shown.useReports && useReportsPart(view, integration, shown.useReports)}
    ${isConnected && creditPacksPart(view, shown, integration)}
  </div>`
}

function connectedParts(view: View, shown: Shown, integration: KnownIntegration): Html {
  const { provider, arrivals } = shown
  const address = notificationAddressOf(shown)
  const isPlatforms = provider === 'stripe' && !integration.ownAccount
  return html`${section(
    'Connection',
    html`<div class="sheet stack">
      ${facts([
        ['Status', badge('good', 'connected')],
        ['Since', dayOf(integration.connectedAt ?? '')],
        provider === 'stripe' && ['Mode', modeWords(integration, shown.platform)],
        address !== undefined && ['Notification URL', copyable('notification URL', address)],
      ])}
      ${integration.ownAccount?.test && notice('warn', 'Connected with a test key: only products in test mode are sold. To sell, disconnect and connect with a live key.')}
    </div>`,
  )}
  ${section('First notification', html`<div class="sheet">${arrivalPart(integration, arrivals, view.now)}</div>`)}
  ${
    view.may('manage_connections') &&
    section(
      'Change',
      html`<div class="sheet stack">
        ${
          !isPlatforms &&
          html`<p><a class="button second" href=${`${at(provider)}/secret`}>New secret</a></p>
            <p class="hint">Replace the secret that notifications are verified with.</p>`
        }
        <details>
          <summary>Disconnect…</summary>
          <form class="stack-tight" method="post" action=${`${at(provider)}/disconnect`}>
            ${tokenField(view.token)}
            <p>
              Its notifications are refused immediately, and its secrets are destroyed. Licenses and mappings stay.
              ${
                integration.endpointId === undefined
                  ? `Remove the endpoint at ${providerNames[provider]} too.`
                  : `The endpoint that keyledger created at ${providerNames[provider]} is removed there.`
              }
            </p>
            <div><button class="dangerous">Disconnect</button></div>
          </form>
        </details>
      </div>`,
    )
  }`
}

function modeWords({ ownAccount }: KnownIntegration, platform: Platform): Content {
  if (ownAccount) return 'Own account, without a platform fee'
  return html`Through the platform of this installation<span class="sub">${feeWords(platform)}</span>`
}

const feeWords = ({ platformFeeBasisPoints: points }: Platform): string =>
  points === 0
    ? 'The platform deducts no fee.'
    : `The platform gets ${points / 100} % of each sale. Stripe deducts it from your share, in addition to its own fees.`

function connectingParts(view: View, shown: Shown): Html {
  const { provider } = shown
  if (!view.may('manage_connections')) {
    return notice(
      'info',
      `${providerNames[provider]} is not connected. Your role does not allow you to connect it.`,
    )
  }
  const address = notificationAddressOf(shown) ?? ''
  const isManual = provider === 'gumroad'
  return html`${!isManual && endpointForm(view, { ...shown, provider })}
  ${section(
    isManual ? `At ${providerNames[provider]}` : 'Or set it up by hand',
    html`<div class="sheet"><ol class="stack numbered">${stepsAt(provider, address).map((step) => html`<li>${step}</li>`)}</ol></div>`,
  )}
  ${section('Connect', connectForm(view, shown))} ${provider === 'stripe' && platformPart(view, shown)}`
}

function connectForm({ token }: View, { provider, operation, form }: Shown): Html {
  const fields = provider === 'gumroad' ? undefined : fieldWords[provider]
  return html`<form class="sheet stack" method="post" action=${`${at(provider)}/connect`}>
    ${tokenField(token)}
    <input type="hidden" name="operation" value=${operation} />
    ${
      fields === undefined
        ? html`<p>Gumroad needs no key: the ping URL holds a secret token, and is shown on the next page, once.</p>`
        : html`${textField(form, { name: 'webhookSecret', label: fields.secret, type: 'password', maxlength: 500, hint: 'Stored encrypted and never shown again.' })}
          ${textField(form, {
            name: 'apiKey',
            label: fields.key,
            type: 'password',
            hint: fields.keyHint,
            required: fields.needsKey,
            maxlength: 500,
          })}`
    }
    <div><button>Connect</button></div>
  </form>`
}

/** The other mode of Stripe: an account through the platform of the installation. */
function platformPart({ token }: View, { platform, integration }: Shown): Content {
  if (!platform.hasPlatformKey) return null
  return section(
    'Without a key of your own',
    html`<form class="sheet stack" method="post" action="/dashboard/integrations/stripe/onboarding">
      ${tokenField(token)}
      <p>Sign in at Stripe, or open an account, and allow the platform of this installation to sell for you. ${feeWords(platform)}</p>
      <div>
        <button class="second">${integration?.status === 'onboarding' ? 'Continue onboarding' : 'Connect through the platform'}</button>
      </div>
    </form>`,
    'Stripe Connect: no API key and no endpoint to set up.',
  )
}

/** Leads to Stripe by a link: a browser does not follow a form that leads to another site. */
export function onboardingView(url: string): Html {
  return html`<div class="narrow">
    ${heading('Continue at Stripe', 'The link works once, for a few minutes. Stripe returns you here when you are done.')}
    <div class="sheet stack">
      <p><a class="button" href=${url} rel="noreferrer">Continue at Stripe</a></p>
      <p><a href="/dashboard/integrations/stripe">Back</a></p>
    </div>
  </div>`
}

export function pingUrlView(baseUrl: string, tenantId: string, token: string): Html {
  return html`<div class="narrow">
    ${heading('Ping URL', 'Copy it now: it is shown only once. Anyone who knows it can report sales.')}
    <div class="sheet stack">
      ${secretBox('Ping URL', pingUrlOf(baseUrl, tenantId, token))}
      <p>Paste it at Gumroad under Settings, Advanced, as Ping endpoint.</p>
      <p>The URL for refunds, disputes and ended memberships:</p>
      <p>${copyable('URL for resources', resourcesUrlOf(baseUrl, tenantId, token))}</p>
      <p><a class="button second" href="/dashboard/integrations/gumroad">I have copied them</a></p>
    </div>
  </div>`
}

export function rotateView(token: string, provider: Provider, operation: string, form: FilledForm): Html {
  const name = providerNames[provider]
  return html`<div class="narrow">
    ${heading('New secret', 'Notifications that use the previous secret are refused immediately.')}
    ${formProblem(form)}
    <form class="sheet stack" method="post" action=${`${at(provider)}/secret`}>
      ${tokenField(token)}
      <input type="hidden" name="operation" value=${operation} />
      ${
        provider === 'gumroad'
          ? html`<p>A new ping URL is shown once, on the next page. Sales are lost until you paste it at Gumroad.</p>`
          : textField(form, {
              name: 'webhookSecret',
              label: fieldWords[provider].secret,
              type: 'password',
              maxlength: 500,
              hint: `As ${name} shows it.`,
            })
      }
      <div class="decide">
        <button class="dangerous">Replace secret</button>
        <a class="button second" href=${at(provider)}>Cancel</a>
      </div>
    </form>
  </div>`
}

function mappingPart(view: View, shown: Shown, integration: KnownIntegration): Html {
  const { provider, products, sold, form } = shown
  const words = itemWords[provider]
  const items = itemsOf(sold, integration)
  const mayManage = view.may('manage_connections')
  const choices = keyTypeChoices(products).map(({ value, label }) => [value, label] as const)
  return section(
    'Products',
    html`<div class="stack">
      ${items.length > 0 && html`<div class="sheeted">${itemTable(view, provider, items)}</div>`}
      ${
        mayManage &&
        (choices.length === 0
          ? html`<p>No product yet. <a href="/dashboard/products">View products</a></p>`
          : html`${canBeAsked(integration) && html`<p><a class="button second" href=${`${at(provider)}/items`}>Choose from the ${words.many} at ${providerNames[provider]}</a></p>`}
            <form class="sheet stack" method="post" action=${`${at(provider)}/map`}>
              ${tokenField(view.token)}
              ${textField(form, {
                name: 'item',
                label: `ID of a ${words.one} at ${providerNames[provider]}`,
                hint: `For example ${words.example}.`,
                maxlength: 255,
              })}
              ${choiceField(form, {
                name: 'sold',
                label: 'Is sold as',
                choices: [['', 'Choose a key type'], ...choices],
                ...(provider === 'gumroad' && { hint: 'Gumroad sells the first key type of the product.' }),
              })}
              <div><button>Map</button></div>
            </form>`)
      }
    </div>`,
    `Which ${words.many} at ${providerNames[provider]} are sold as which key type. Sales of others are parked.`,
  )
}

function itemTable(view: View, provider: Provider, items: readonly Item[]): Html {
  const mayManage = view.may('manage_connections')
  return table({
    caption: 'Mapped items',
    columns: [{ label: 'ID' }, { label: 'Sold as' }, ...(mayManage ? [{ label: 'Change' }] : [])],
    rows: items.map(({ item, product, keyType, isPrice }): Content[] => [
      html`<code>${item}</code>`,
      html`<span>${product}<span class="sub">${keyType}</span></span>`,
      ...(mayManage ? [isPrice ? 'with the key type' : unmapForm(view.token, provider, item)] : []),
    ]),
  })
}
