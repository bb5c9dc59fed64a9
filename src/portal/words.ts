import { minorDigits } from '../domain/currency.ts'
import { languageTags } from '../domain/portal/languages.ts'
import type { PortalLanguage } from '../domain/portal/texts.ts'

/** An amount in minor units. A currency that is not a code of three letters is written unchanged. */
export function amountIn(language: PortalLanguage, amount: number, currency: string): string {
  if (!/^[a-z]{3}$/i.test(currency)) return `${amount} ${currency}`
  const count = minorDigits(currency)
  const shown = { minimumFractionDigits: count, maximumFractionDigits: count }
  const format = new Intl.NumberFormat(languageTags[language], { style: 'currency', currency, ...shown })
  return format.format(amount / 10 ** count)
}

/** The last characters of an order's number, so that people recognize it and others learn little. */
export const maskedOrder = (saleId: string): string => `••••${saleId.length > 8 ? saleId.slice(-4) : ''}`

/** `a•••@example.com` */
export const maskedAddress = (email: string): string =>
  `${email.slice(0, 1)}•••${email.slice(email.lastIndexOf('@'))}`
