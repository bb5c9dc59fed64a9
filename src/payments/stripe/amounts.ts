import { fromStripe } from '../../domain/currency.ts'
import type { Translated } from '../translated.ts'

/** What a notification of Stripe's comes to, with its amount in the currency's own minor units. */
export function inMinorUnits(translated: Translated): Translated {
  if (!('amount' in translated)) return translated
  const { amount, currency } = translated
  if (amount === undefined || currency === undefined) return translated
  return { ...translated, amount: fromStripe(amount, currency) }
}
