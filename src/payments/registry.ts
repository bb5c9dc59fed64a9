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
 * Every provider. The rest of Stripe's API is in `stripe/api.ts`; its notifications and gumroad's are verified in ways of their
 * own, see `src/sales/verify.ts`.
 */
export const paymentProviders: Readonly<Registry> = {
  stripe,
  gumroad,
  lemonsqueezy: lemonSqueezy,
  paddle,
  polar,
}
