import type { Provider } from '../../src/domain/integrations/provider.ts'
import type { Life, Sent } from './lives.ts'
import { toldByGumroad, toldByPolar } from './told-by-gumroad-and-polar.ts'
import { toldByLemonSqueezy, toldByPaddle } from './told-by-lemonsqueezy-and-paddle.ts'
import { toldByStripe } from './told-by-stripe.ts'

/** Everything that a provider sends of a life, in the order in which it happens. */
export function sentOf(life: Life): Sent[] {
  return tellers[life.provider](life)
}

const tellers: Record<Provider, (life: Life) => Sent[]> = {
  stripe: toldByStripe,
  gumroad: toldByGumroad,
  lemonsqueezy: toldByLemonSqueezy,
  paddle: toldByPaddle,
  polar: toldByPolar,
}

/** What the provider calls the sale. */
export const saleIdOf = ({ provider, name }: Life): string => saleIds[provider](name)

const saleIds: Record<Provider, (name: string) => string> = {
  stripe: (name) => `cs_${name}`,
  gumroad: (name) => `gr_${name}_0`,
  lemonsqueezy: (name) => `order_${name}`,
  paddle: (name) => `txn_${name}_0`,
  polar: (name) => `ord_${name}_0`,
}
