import type { Provider, SigningMarketplace } from '../domain/integrations/provider.ts'
import { gumroad } from './gumroad/gumroad.ts'
import { lemonSqueezy } from './lemonsqueezy/lemonsqueezy.ts'
import { paddle } from './paddle/paddle.ts'
import type { PaymentProvider, SigningProvider } from './payment-provider.ts'
import { polar } from './polar/polar.ts'
import { stripe } from './stripe/stripe.ts'

type Registry = Record<Exclude<Provider, SigningMarketplace>, PaymentProvider> &
  Record<SigningMarketplace, SigningProvider>

/**
 * Every provider. Stripe's API has more to it, see {@link CardProvider}, and its notifications and gumroad's are verified in
 * ways of their own.
 */
export const paymentProviders: Readonly<Registry> = {
  stripe,
  gumroad,
  lemonsqueezy: lemonSqueezy,
  paddle,
  polar,
}
