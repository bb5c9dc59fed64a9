/**
 * The number of digits after the decimal point of each currency that does not have two. All amounts in
 * keyledger are integers in the currency's minor unit by this table.
 * @see ISO 4217, list one:
 *   https://www.six-group.com/en/products-services/financial-information/data-standards.html
 */
const digits: Readonly<Record<string, number>> = {
  ...of(0, 'bif clp djf gnf isk jpy kmf krw pyg rwf ugx uyi vnd vuv xaf xof xpf'),
  ...of(3, 'bhd iqd jod kwd lyd omr tnd'),
  ...of(4, 'clf uyw'),
}

/**
 * The currencies for which Stripe uses another number of digits. The króna and the Ugandan shilling no longer
 * have cents, but Stripe still writes them as 00. For the ariary, Stripe has no fifths. HUF and TWD are
 * special only in payouts.
 * @see https://docs.stripe.com/currencies#special-cases and #zero-decimal
 */
const digitsAtStripe: Readonly<Record<string, number>> = { isk: 2, ugx: 2, mga: 0 }

/**
 * For these currencies Stripe accepts only amounts whose last digit is 0. @see
 * https://docs.stripe.com/currencies#three-decimal
 */
const tensAtStripe: ReadonlySet<string> = new Set(['bhd', 'jod', 'kwd', 'omr', 'tnd'])

function of(count: number, currencies: string): Record<string, number> {
  return Object.fromEntries(currencies.split(' ').map((currency) => [currency, count]))
}

/** The number of digits after the decimal point; two for an unknown currency. */
export const minorDigits = (currency: string): number => digits[currency.toLowerCase()] ?? 2

const shiftAtStripe = (currency: string): number =>
  minorDigits(currency) - (digitsAtStripe[currency.toLowerCase()] ?? minorDigits(currency))

/** Converts an amount from Stripe's unit to minor units. */
export const fromStripe = (amount: number, currency: string): number =>
  Math.round(amount * 10 ** shiftAtStripe(currency))

/** Converts minor units to Stripe's unit, rounded down where Stripe does not accept such a fraction. */
export function toStripe(amount: number, currency: string): number {
  const there = Math.floor(amount / 10 ** shiftAtStripe(currency))
  return tensAtStripe.has(currency.toLowerCase()) ? there - (there % 10) : there
}
