/** What is told of a sale comes to the same, in whatever order and however often it is told. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { SaleFact } from '../../src/domain/sale/events.ts'
import { isNews, noFacts, standingOf, withFact } from '../../src/domain/sale/facts.ts'
import { anyFact, disputed, ended, refunded, renewed } from './sale-samples.ts'

const sold = {
  amount: 4900,
  currency: 'usd',
  paidUntil: null,
  firstExpiresAt: '2026-04-01T12:00:00.000Z' as string | null,
}
const may = '2026-05-01T12:00:00.000Z'
const june = '2026-06-01T12:00:00.000Z'

const factsOf = (told: readonly SaleFact[]) => told.reduce(withFact, noFacts)

test('the order and the number of tellings leave no trace', () =>
  fc.assert(
    fc.property(
      fc.array(anyFact, { maxLength: 8 }).chain((told) =>
        fc.tuple(
          fc.constant(told),
          fc.shuffledSubarray([...told, ...told], {
            minLength: told.length * 2,
            maxLength: told.length * 2,
          }),
        ),
      ),
      ([told, retold]) => {
        const facts = factsOf(told)
        expect(factsOf(retold)).toStrictEqual(facts)
        for (const fact of told) expect(isNews(facts, fact)).toBe(false)
      },
    ),
    { numRuns: 1000 },
  ))

describe('the license of a sale', () => {
  const paid = { amount: 4900, currency: 'usd' }
  const cases: [what: string, told: SaleFact[], refund: unknown, expiresAt: string | null | undefined][] = [
    ['is as it was issued when nothing is told', [], null, undefined],
    ['is not refunded in part', [refunded('re_1', 1000)], null, undefined],
    [
      'is refunded when all of it was',
      [refunded('re_1', 1000), refunded('re_2', 4900, true)],
      paid,
      undefined,
    ],
    ['is left alone while a dispute is open', [disputed('SaleDisputed')], null, undefined],
    [
      'is refunded when a dispute was lost',
      [disputed('SaleDisputed'), disputed('DisputeLost')],
      paid,
      undefined,
    ],
    [
      'is as it was when that dispute is won',
      [disputed('DisputeLost'), disputed('DisputeWon')],
      null,
      undefined,
    ],
    [
      'is refunded when one dispute is won and another lost',
      [disputed('DisputeWon', 'dp_1'), disputed('DisputeLost', 'dp_2')],
      paid,
      undefined,
    ],
    [
      'is refunded whatever becomes of a dispute after a refund',
      [refunded('re_1', 4900, true), disputed('DisputeWon')],
      paid,
      undefined,
    ],
    ['runs as long as the last renewal', [renewed('in_2', june), renewed('in_1', may)], null, june],
    [
      'never runs shorter for a renewal',
      [renewed('in_1', '2026-03-15T00:00:00.000Z')],
      null,
      sold.firstExpiresAt,
    ],
    ['ends with what is paid', [renewed('in_1', may), ended(null)], null, may],
    ['ends when the end says so', [ended(may)], null, may],
    ['is renewed by a payment that comes after the end', [ended(may), renewed('in_2', june)], null, june],
  ]

  test.each(cases)('%s', (_, told, refund, expiresAt) => {
    expect(standingOf(sold, factsOf(told))).toStrictEqual({ refund, expiresAt })
  })

  test('that is perpetual stays so until its subscription has ended', () => {
    const perpetual = { ...sold, firstExpiresAt: null }
    expect(standingOf(perpetual, factsOf([renewed('in_1', may)]))).toMatchObject({ expiresAt: null })
    expect(standingOf(perpetual, factsOf([renewed('in_1', may), ended(null)]))).toMatchObject({
      expiresAt: may,
    })
    const atOnce = ended(null)
    expect(standingOf(perpetual, factsOf([atOnce]))).toMatchObject({ expiresAt: atOnce.data.occurredAt })
  })
})
