import { fromStripe } from '../../domain/currency.ts'
import type { Translated } from '../translated.ts'

/** A translated notification of Stripe's, with its amount in the currency's own minor units. */
export function inMinorUnits(translated: Translated): Translated {
  if (!('amount' in translated)) return translated
  const { amount, currency } = translated
  if (amount === undefined || currency === undefined) return translated
  return { ...translated, amount: fromStripe(amount, currency) }
}
