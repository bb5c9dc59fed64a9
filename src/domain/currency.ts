/**
 * How many digits stand behind the point of a currency, where they are not two. All amounts in keyledger are integers in
 * the currency's minor unit by this table.
 * @see ISO 4217, list one: https://www.six-group.com/en/products-services/financial-information/data-standards.html
 */
const digits: Readonly<Record<string, number>> = {
  ...of(0, 'bif clp djf gnf isk jpy kmf krw pyg rwf ugx uyi vnd vuv xaf xof xpf'),
  ...of(3, 'bhd iqd jod kwd lyd omr tnd'),
  ...of(4, 'clf uyw'),
}

/**
 * Where Stripe writes amounts in another unit. The króna and the Ugandan shilling have no cents any more, which Stripe goes
 * on to write as 00; of the ariary, Stripe writes no fifths. HUF and TWD are special in payouts alone.
 * @see https://docs.stripe.com/currencies#special-cases and #zero-decimal
 */
const digitsAtStripe: Readonly<Record<string, number>> = { isk: 2, ugx: 2, mga: 0 }

/** Of these Stripe takes only amounts whose last digit is 0. @see https://docs.stripe.com/currencies#three-decimal */
const tensAtStripe: ReadonlySet<string> = new Set(['bhd', 'jod', 'kwd', 'omr', 'tnd'])

function of(count: number, currencies: string): Record<string, number> {
  return Object.fromEntries(currencies.split(' ').map((currency) => [currency, count]))
}

/** How many digits stand behind the point; two for a currency that nobody has heard of. */
export const minorDigits = (currency: string): number => digits[currency.toLowerCase()] ?? 2

const shiftAtStripe = (currency: string): number =>
  minorDigits(currency) - (digitsAtStripe[currency.toLowerCase()] ?? minorDigits(currency))

/** An amount as Stripe writes it, in minor units. */
export const fromStripe = (amount: number, currency: string): number =>
  Math.round(amount * 10 ** shiftAtStripe(currency))

/** Minor units as Stripe takes them: rounded down where it takes no such fraction. */
export function toStripe(amount: number, currency: string): number {
  const there = Math.floor(amount / 10 ** shiftAtStripe(currency))
  return tensAtStripe.has(currency.toLowerCase()) ? there - (there % 10) : there
}
