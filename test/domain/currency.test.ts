/** Amounts are in the minor units of ISO 4217; Stripe uses other units for three currencies. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { fromStripe, minorDigits, toStripe } from '../../src/domain/currency.ts'
import { money } from '../../src/history/changes.ts'

describe('an amount', () => {
  test.each([
    ['usd', 4900, '$49.00'],
    ['EUR', 1, '€0.01'],
    ['isk', 1990, 'ISK 1,990'],
    ['ugx', 25_000, 'UGX 25,000'],
    ['jpy', 500, '¥500'],
    ['krw', 500, '₩500'],
    ['huf', 499_000, 'HUF 4,990.00'],
    ['twd', 15_000, 'NT$150.00'],
    ['mga', 50_000, 'MGA 500.00'],
    ['kwd', 5120, 'KWD 5.120'],
    ['iqd', 1_500_500, 'IQD 1,500.500'],
    ['clf', 12_345, 'CLF 1.2345'],
    ['xyz', 150, 'XYZ 1.50'],
    ['stars', 7, '7 stars'],
  ])('of %s, %i, is shown as it is paid', (currency, amount, shown) => {
    // The space after a currency code is a non-breaking one.
    expect(money(amount, currency).replaceAll('\u00a0', ' ')).toBe(shown)
  })

  test.each([
    ['usd', 4900, 4900],
    ['isk', 199_000, 1990],
    ['ugx', 2_500_000, 25_000],
    ['mga', 500, 50_000],
    ['jpy', 500, 500],
    ['kwd', 5120, 5120],
    ['huf', 499_000, 499_000],
  ])('of %s that Stripe writes as %i is %i minor units', (currency, atStripe, amount) => {
    expect(fromStripe(atStripe, currency)).toBe(amount)
    expect(toStripe(amount, currency.toUpperCase())).toBe(atStripe)
  })

  test('that Stripe does not accept is rounded down to one that it accepts', () => {
    expect(toStripe(5129, 'kwd')).toBe(5120)
    expect(toStripe(50_099, 'mga')).toBe(500)
  })

  test('is unchanged after a conversion to Stripe’s unit and back, in every currency of Stripe', () => {
    const known = fc.constantFrom('usd', 'isk', 'ugx', 'jpy', 'huf')
    fc.assert(
      fc.property(known, fc.nat({ max: 99_999_999 }), (currency, amount) => {
        expect(fromStripe(toStripe(amount, currency), currency)).toBe(amount)
      }),
    )
  })
})

test('an unknown currency has two digits', () => expect(minorDigits('zzz')).toBe(2))
