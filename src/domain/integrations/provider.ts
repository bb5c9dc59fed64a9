import { z } from 'zod'

/** Merchants of record and marketplaces: each sells in its own name and sends a notification of each sale. */
export const Marketplace = z.enum(['gumroad', 'lemonsqueezy', 'paddle', 'polar'])
export type Marketplace = z.infer<typeof Marketplace>

/** Those that sign their notifications with a secret of the integration. */
export const SigningMarketplace = Marketplace.exclude(['gumroad'])
export type SigningMarketplace = z.infer<typeof SigningMarketplace>

/** Every payment provider, in the order of display; the first is the card provider. */
export const Provider = z.enum(['stripe', ...Marketplace.options])
export type Provider = z.infer<typeof Provider>

/** Those with an API that keyledger calls; gumroad only sends notifications. */
export type ProviderWithApi = Exclude<Provider, 'gumroad'>

export const hasApi = (provider: Provider): provider is ProviderWithApi => provider !== 'gumroad'

/** What people call them. */
export const providerNames: Readonly<Record<Provider, string>> = {
  stripe: 'Stripe',
  gumroad: 'Gumroad',
  lemonsqueezy: 'Lemon Squeezy',
  paddle: 'Paddle',
  polar: 'Polar',
}

/** The provider's own things that products and key types are mapped to, as the API names them. */
export const mappedBy = {
  stripe: 'prices',
  gumroad: 'permalinks',
  lemonsqueezy: 'variants',
  paddle: 'prices',
  polar: 'products',
} as const satisfies Record<Provider, string>

/** The marketplaces whose own things of this kind are mapped. */
export const marketplacesMappedBy = (things: (typeof mappedBy)[Marketplace]): Marketplace[] =>
  Marketplace.options.filter((marketplace) => mappedBy[marketplace] === things)

export const ProviderKind = z.enum(['card', 'marketplace'])

export const kindOf = (provider: Provider): z.infer<typeof ProviderKind> =>
  provider === 'stripe' ? 'card' : 'marketplace'

/**
 * A key or secret that a provider issues: visible ASCII, since it is sent in a header or used for signatures.
 */
export const ProviderCredential = z
  .string()
  .regex(/^[\x21-\x7e]{1,500}$/, 'must be 1 to 500 visible characters')
