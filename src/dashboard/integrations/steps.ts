import type { Provider, ProviderWithApi } from '../../domain/integrations/provider.ts'
import { type Content, html } from '../../html.ts'
import { paymentProviders } from '../../payments/registry.ts'
import { copyable, copyableBlock } from '../frame/parts.ts'

const address = (url: string): Content => copyable('notification URL', url)

const events = (provider: Provider): Content =>
  copyableBlock('events', paymentProviders[provider].events.join('\n'))

/** What a member does at the provider before connecting it, a step each. */
export function stepsAt(provider: Provider, url: string): Content[] {
  switch (provider) {
    case 'stripe':
      return [
        html`At Stripe open <strong>Developers, API keys, Create restricted key</strong>. Allow <strong>Read</strong> for
          Prices, Products, Invoices and PaymentIntents, and <strong>Write</strong> for Checkout Sessions.`,
        html`Open <strong>Developers, Webhooks, Add endpoint</strong> and enter this URL for events of
          your account: ${address(url)}`,
        html`Choose these events: ${events(provider)}`,
        'Copy the signing secret of the endpoint, which begins with whsec_.',
      ]
    case 'gumroad':
      return [
        'Connect here first. The ping URL is shown once, with a secret token in it.',
        html`At Gumroad open <strong>Settings, Advanced</strong> and paste it as <strong>Ping endpoint</strong>.`,
        html`Refunds, disputes and ended memberships are sent to URLs that you subscribe through Gumroad's API. That URL is shown
          with the ping URL. Subscribe it once for each of: ${events(provider)}`,
      ]
    case 'lemonsqueezy':
      return [
        html`At Lemon Squeezy open <strong>Settings, Webhooks</strong> and add a webhook with this callback URL: ${address(url)}`,
        html`Choose these events: ${events(provider)}`,
        'Choose a signing secret of 6 to 40 characters, and enter the same one here.',
      ]
    case 'paddle':
      return [
        html`At Paddle open <strong>Developer tools, Authentication</strong> and create an API key. Allow it to${' '}
          <strong>read</strong> customers, prices and products.`,
        html`Open <strong>Developer tools, Notifications</strong> and add a destination with this URL:${' '}
          ${address(url)}`,
        html`Choose these events: ${events(provider)}`,
        'Copy the secret key of the destination, which begins with pdl_ntfset_.',
      ]
    case 'polar':
      return [
        html`At Polar open <strong>Settings, Webhooks</strong> and add an endpoint of the format Raw with this URL:${' '}
          ${address(url)}`,
        html`Choose these events: ${events(provider)}`,
        'Copy the secret of the endpoint.',
      ]
  }
}

/** The names of a provider's fields, as its own pages call them. */
export const fieldWords: Record<
  ProviderWithApi,
  { key: string; keyHint: string; secret: string; needsKey: boolean }
> = {
  stripe: {
    key: 'Restricted key',
    keyHint: 'It begins with rk_live_, or rk_test_ for test mode. Secret keys (sk_) are refused.',
    secret: 'Signing secret',
    needsKey: true,
  },
  lemonsqueezy: {
    key: 'API key',
    keyHint: 'Optional. With it you choose variants from a list.',
    secret: 'Signing secret',
    needsKey: false,
  },
  paddle: {
    key: 'API key',
    keyHint: "Optional, but without it the buyers' email addresses are unknown, and prices are mapped by ID.",
    secret: 'Secret key of the destination',
    needsKey: false,
  },
  polar: {
    key: 'Access token',
    keyHint:
      'Optional. It needs the scopes organizations:read and, to choose products from a list, products:read.',
    secret: 'Webhook secret',
    needsKey: false,
  },
}

/** What the provider calls the things that key types are mapped to. */
export const itemWords: Record<Provider, { one: string; many: string; example: string }> = {
  stripe: { one: 'price', many: 'prices', example: 'price_1T8oxK… or a payment link, plink_1T8oxK…' },
  gumroad: { one: 'permalink', many: 'permalinks', example: 'editor, or the whole address of the product' },
  lemonsqueezy: { one: 'variant', many: 'variants', example: '123456' },
  paddle: { one: 'price', many: 'prices', example: 'pri_01gsz8x8sawmvhz1pv30nge1ke' },
  polar: { one: 'product', many: 'products', example: 'd8dd2de1-21b7-4a41-8bc3-ce909c0cfe23' },
}

/** What to allow a key at the provider, so that it may list what is sold there. */
export const listingWords: Record<ProviderWithApi, string> = {
  stripe: 'Edit the restricted key at Stripe and allow it Read for Prices and Products.',
  lemonsqueezy: 'Disconnect, and connect with an API key of the account that owns the store.',
  paddle: 'Edit the key at Paddle and allow it to read prices and products.',
  polar: 'Give the access token the scope products:read at Polar.',
}

/** What to allow a key at the provider, so that keyledger may create the endpoint there. */
export const endpointKeyWords: Record<ProviderWithApi, { one: string; allowed: Content }> = {
  stripe: {
    one: 'a restricted key',
    allowed: html`At Stripe open <strong>Developers, API keys, Create restricted key</strong>. Allow <strong>Read</strong> for
      Prices, Products, Invoices and PaymentIntents, and <strong>Write</strong> for Checkout Sessions and Webhook Endpoints.`,
  },
  lemonsqueezy: {
    one: 'an API key',
    allowed: html`At Lemon Squeezy open <strong>Settings, API</strong> and create a key.`,
  },
  paddle: {
    one: 'an API key',
    allowed: html`At Paddle open <strong>Developer tools, Authentication</strong> and create a key. Allow it to${' '}
      <strong>read</strong> customers, prices and products, and to <strong>read and write</strong> notification settings.`,
  },
  polar: {
    one: 'an access token',
    allowed: html`At Polar open <strong>Settings, Developers</strong> and create an organization access token with the scopes${' '}
      <code>organizations:read</code>, <code>products:read</code>, <code>webhooks:read</code> and <code>webhooks:write</code>.`,
  },
}
