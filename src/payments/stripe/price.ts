import { z } from 'zod'
import { fromStripe } from '../../domain/currency.ts'
import { intervalWords } from '../offered.ts'

export type CardPrice = {
  active: boolean
  /** Integer minor units; null for a price without a fixed amount. */
  unitAmount: number | null
  currency: string
  /** Such as `month` or `3 months`; null for a single payment. */
  interval: string | null
}

/** A price as Stripe returns it. */
export const Price = z.object({
  id: z.string(),
  object: z.literal('price'),
  active: z.boolean(),
  currency: z.string().length(3),
  unit_amount: z.int().nonnegative().nullable(),
  recurring: z.object({ interval: z.string(), interval_count: z.int().positive() }).nullable(),
})

/** A price in our words. */
export function priceOf({ active, unit_amount, currency, recurring }: z.infer<typeof Price>): CardPrice {
  const { interval, interval_count: count } = recurring ?? { interval: null, interval_count: 1 }
  return {
    active,
    unitAmount: unit_amount === null ? null : fromStripe(unit_amount, currency),
    currency,
    interval: interval === null ? null : intervalWords(interval, count),
  }
}
