/**
 * Guarantee: until `revalidate_after`, a repeated validate returns the same as the cached response, and no
 * client gets an expiry later than the real one, although the API rounds times to seconds.
 */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { LicenseOfKey } from '../../projections/licenses/runtime.ts'
import { expiryAfter } from '../../src/domain/licenses/expiry.ts'
import { verdictOn } from '../../src/verdicts/answer.ts'

const start = Date.parse('2026-03-01T12:00:00.000Z')
const moment = (ms: number) => new Date(start + ms).toISOString()
/**
 * Within ten seconds, so that expiries, overrides and the present often fall into the same second or millisecond.
 */
const offset = fc.integer({ min: -3000, max: 7000 })

const standing: fc.Arbitrary<LicenseOfKey> = fc
  .record({
    revalidateAfterSeconds: fc.integer({ min: 1, max: 8 }),
    end: fc.option(offset),
    graceSeconds: fc.constantFrom(null, 1, 3),
    onExpiry: fc.constantFrom('expire' as const, 'fallback' as const),
    seated: fc.boolean(),
    overrides: fc.array(
      fc.record({
        entitlement: fc.constantFrom('a', 'b', 'c'),
        effect: fc.constantFrom('grant' as const, 'revoke' as const),
        value: fc.constantFrom(1, 2, 'x'),
        end: fc.option(offset),
      }),
      { maxLength: 4 },
    ),
  })
  .map(({ end, graceSeconds, onExpiry, overrides, ...rest }) => ({
    kind: 'license',
    licenseId: 'lic_1',
    license: {
      productId: 'editor',
      revokedAt: null,
      suspendedAt: null,
      expiresAt: end === null ? null : moment(end),
      graceSeconds,
      onExpiry,
      updatesUntil: null,
      floating: null,
    },
    entitlements: ['a', 'b'],
    fallbackEntitlements: ['b'],
    entitlementValues: { a: 3, b: 'gold' },
    overrides: overrides.map(({ end: until, ...override }) => ({
      ...override,
      ...(until !== null && { expiresAt: moment(until) }),
    })),
    seatedByAnother: false,
    withoutSeat: false,
    fence: null,
    fileEndsAt: null,
    uncertain: false,
    ...rest,
  }))

const whole = fc.record({ standing, seatNeeded: fc.boolean(), now: fc.integer({ min: 0, max: 5000 }) })

describe('a response to validate', () => {
  test('is valid until its revalidate_after', () =>
    fc.assert(
      fc.property(whole, fc.nat({ max: 8000 }), ({ standing, seatNeeded, now }, laterMs) => {
        const verdict = verdictOn(standing, seatNeeded, moment(now))
        const later = Math.min(start + now + laterMs, verdict.revalidateAfter * 1000 - 1)
        if (later < start + now) return
        const again = verdictOn(standing, seatNeeded, new Date(later).toISOString())
        const { revalidateAfter: _, ...kept } = verdict
        expect(again).toMatchObject(kept)
      }),
      { numRuns: 2000 },
    ))

  test('has an expires_at less than a second before the real expiry, and never after it', () =>
    fc.assert(
      fc.property(whole, ({ standing, seatNeeded, now }) => {
        const { expiresAt: shown } = verdictOn(standing, seatNeeded, moment(now))
        const { expiresAt } = standing.license
        if (expiresAt === null) expect(shown).toBeNull()
        else {
          const lost = Date.parse(expiresAt) - (shown ?? 0) * 1000
          expect(lost).toBeGreaterThanOrEqual(0)
          expect(lost).toBeLessThan(1000)
        }
      }),
    ))
})

describe('the expiry of a license', () => {
  const at = (expiresAt: string, now: number) =>
    verdictOn(
      {
        kind: 'license',
        licenseId: 'lic_1',
        license: {
          productId: 'editor',
          revokedAt: null,
          suspendedAt: null,
          expiresAt,
          graceSeconds: null,
          onExpiry: 'expire',
          updatesUntil: null,
          floating: null,
        },
        entitlements: [],
        fallbackEntitlements: [],
        entitlementValues: {},
        overrides: [],
        revalidateAfterSeconds: 3600,
        seated: true,
        seatedByAnother: false,
        withoutSeat: false,
        fence: null,
        fileEndsAt: null,
        uncertain: false,
      },
      true,
      new Date(now).toISOString(),
    ).status

  test.each<[string, number, 'day' | 'month' | 'year', string]>([
    ['31 January + 1 month', 1, 'month', '2026-01-31T23:59:59.999Z'],
    ['29 February + 1 year', 1, 'year', '2028-02-29T00:00:00.000Z'],
    ['29 January + 1 month in a leap year', 1, 'month', '2028-01-29T12:00:00.500Z'],
    ['the day before a leap day + 1 day', 1, 'day', '2028-02-28T12:00:00.000Z'],
    ['a day in which New York loses an hour', 1, 'day', '2026-03-07T07:30:00.000Z'],
    ['a day in which Berlin gains an hour', 1, 'day', '2026-10-24T22:30:00.001Z'],
    ['the last second of a year + 1 month', 1, 'month', '2026-12-31T23:59:59.000Z'],
  ])('at %s changes the status at the exact millisecond', (_, count, unit, from) => {
    const end = expiryAfter(from, { count, unit })
    const endMs = Date.parse(end)
    expect([-1, 0, 1].map((ms) => at(end, endMs + ms))).toStrictEqual(['active', 'expired', 'expired'])
    expect([-1000, 1000].map((ms) => at(end, endMs + ms))).toStrictEqual(['active', 'expired'])
  })
})
