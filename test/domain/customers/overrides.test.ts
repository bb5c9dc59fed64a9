/**
 * A license's entitlements under its customer's overrides are its own and the granted ones, without the
 * revoked ones. The order of the overrides does not matter; each applies to its product and until its end.
 */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  type EntitlementOverride,
  nextOverrideEnd,
  withOverrides,
} from '../../../src/domain/customers/overrides.ts'

const now = '2026-03-01T12:00:00.000Z'
const before = '2026-03-01T11:59:59.000Z'
const after = '2026-03-01T12:00:01.000Z'
const muchLater = '2026-04-01T12:00:00.000Z'

const grant = (entitlement: string, more: Partial<EntitlementOverride> = {}): EntitlementOverride => ({
  entitlement,
  effect: 'grant',
  ...more,
})
const revoke = (entitlement: string, more: Partial<EntitlementOverride> = {}): EntitlementOverride => ({
  ...grant(entitlement, more),
  effect: 'revoke',
})

describe('effective entitlements', () => {
  const cases: [what: string, own: string[], overrides: EntitlementOverride[], effective: string[]][] = [
    ['without overrides are its own', ['b', 'c'], [], ['b', 'c']],
    ['hold what is granted, sorted', ['b'], [grant('c'), grant('a')], ['a', 'b', 'c']],
    ['hold once what it had already', ['a'], [grant('a')], ['a']],
    ['lack what is revoked', ['a', 'b'], [revoke('a')], ['b']],
    ['lack what is revoked and granted', ['a'], [revoke('a'), grant('a')], []],
    ['take no notice of a revocation of nothing', ['a'], [revoke('z')], ['a']],
    [
      'take no notice of other products',
      ['a'],
      [grant('b', { productId: 'player' }), revoke('a', { productId: 'player' })],
      ['a'],
    ],
    [
      'heed overrides of its product',
      ['a'],
      [grant('b', { productId: 'editor' }), revoke('a', { productId: 'editor' })],
      ['b'],
    ],
    [
      'heed an override until it ends',
      ['a'],
      [grant('b', { expiresAt: after }), revoke('a', { expiresAt: after })],
      ['b'],
    ],
    [
      'and not at its end itself',
      ['a'],
      [grant('b', { expiresAt: now }), revoke('a', { expiresAt: now })],
      ['a'],
    ],
    ['get back what was revoked for a time', ['a'], [revoke('a', { expiresAt: before })], ['a']],
    ['keep what one of two grants still gives', [], [grant('a', { expiresAt: before }), grant('a')], ['a']],
  ]
  test.each(cases)('%s', (_, own, overrides, effective) =>
    expect(withOverrides(own, overrides, 'editor', now)).toStrictEqual(effective),
  )
})

const known: string[] = ['a', 'b', 'c', 'd:e']
const names = fc.constantFrom(...known)
const overrides = fc.array(
  fc.record(
    {
      entitlement: names,
      effect: fc.constantFrom('grant' as const, 'revoke' as const),
      productId: fc.constantFrom('editor', 'player'),
      expiresAt: fc.constantFrom(before, now, after, muchLater),
      reason: fc.constantFrom('because'),
    },
    { requiredKeys: ['entitlement', 'effect'], noNullPrototype: true },
  ),
  { maxLength: 12 },
)
const own = fc.uniqueArray(names).map((list) => list.sort())
const moments = fc.constantFrom(before, now, after, muchLater)

test('for any overrides in any order the same comes out: own + grants − revokes, sorted and once each', () =>
  fc.assert(
    fc.property(
      own,
      overrides.chain((list) =>
        fc.tuple(fc.constant(list), fc.shuffledSubarray(list, { minLength: list.length })),
      ),
      moments,
      (license, [list, shuffled], moment) => {
        const copies = structuredClone({ license, list })
        const effective = withOverrides(license, list, 'editor', moment)
        // The same rule, written for one entitlement at a time.
        const inForce = (effect: string, name: string) =>
          list.some(
            (override) =>
              override.effect === effect &&
              override.entitlement === name &&
              [undefined, 'editor'].includes(override.productId) &&
              (override.expiresAt === undefined || Date.parse(moment) < Date.parse(override.expiresAt)),
          )
        const expected = known.filter(
          (name) => (license.includes(name) || inForce('grant', name)) && !inForce('revoke', name),
        )
        expect(effective).toStrictEqual(expected)
        expect(withOverrides(license, shuffled, 'editor', moment)).toStrictEqual(effective)
        expect({ license, list }).toStrictEqual(copies)
      },
    ),
    { numRuns: 1000 },
  ))

test('nothing changes by the clock before the next end, and that is never in the past', () =>
  fc.assert(
    fc.property(own, overrides, moments, moments, (license, list, moment, other) => {
      const end = nextOverrideEnd(list, 'editor', moment)
      if (end !== null) expect(end > moment).toBe(true)
      if (other < moment || (end !== null && other >= end)) return
      expect(withOverrides(license, list, 'editor', other)).toStrictEqual(
        withOverrides(license, list, 'editor', moment),
      )
    }),
    { numRuns: 1000 },
  ))

test.each<[string, EntitlementOverride[], string | null]>([
  ['none without overrides', [], null],
  ['none of those that never end', [grant('a'), revoke('b')], null],
  ['the nearest', [grant('a', { expiresAt: muchLater }), revoke('b', { expiresAt: after })], after],
  ['none that is past', [grant('a', { expiresAt: now }), grant('a', { expiresAt: before })], null],
  ['none of another product', [grant('a', { expiresAt: after, productId: 'player' })], null],
])('the next end is %s', (_, list, end) => expect(nextOverrideEnd(list, 'editor', now)).toBe(end))
