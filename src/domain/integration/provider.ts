import { z } from 'zod'

/** Merchants of record and marketplaces: each sells in its own name and tells of a sale by a notification. */
export const Marketplace = z.enum(['gumroad', 'lemonsqueezy', 'paddle', 'polar'])
export type Marketplace = z.infer<typeof Marketplace>

/** Every payment provider, in the order in which they are listed; the first is the card provider. */
export const Provider = z.enum(['stripe', ...Marketplace.options])
export type Provider = z.infer<typeof Provider>

export const ProviderKind = z.enum(['card', 'marketplace'])

export const kindOf = (provider: Provider): z.infer<typeof ProviderKind> =>
  provider === 'stripe' ? 'card' : 'marketplace'
