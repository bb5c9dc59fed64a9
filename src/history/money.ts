import { minorDigits } from '../domain/currency.ts'

/**
 * `€49.00`, from an amount in minor units. A currency that is not a code of three letters is written
 * unchanged.
 */
export function money(amount: number, currency: string): string {
  if (!/^[a-z]{3}$/i.test(currency)) return `${amount} ${currency}`
  const count = minorDigits(currency)
  const shown = { minimumFractionDigits: count, maximumFractionDigits: count }
  const format = new Intl.NumberFormat('en', { style: 'currency', currency, ...shown })
  return format.format(amount / 10 ** count)
}
