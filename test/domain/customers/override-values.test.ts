/**
 * Guarantee: only what a license grants has a value: that of its key type, or of its customer's overrides in force in its
 * place. The order of the overrides does not matter.
 */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { absentCustomer, decideCustomer, evolveCustomer } from '../../../src/domain/customers/customer.ts'
import type { CustomerEvent } from '../../../src/domain/customers/events.ts'
import { grantedValues } from '../../../src/domain/customers/override-values.ts'
import {
  type EntitlementOverride,
  nextOverrideEnd,
  withOverrides,
} from '../../../src/domain/customers/overrides.ts'
import type { EntitlementValues } from '../../../src/domain/products/entitlement-values.ts'
import { givenOn } from '../given.ts'

const given = givenOn({ initial: absentCustomer, decide: decideCustomer, evolve: evolveCustomer })

const now = '2026-03-01T12:00:00.000Z'
const before = '2026-03-01T11:59:59.000Z'
const after = '2026-03-01T12:00:01.000Z'
const later = '2026-04-01T12:00:00.000Z'

const grant = (
  entitlement: string,
  value?: EntitlementOverride['value'],
  more: Partial<EntitlementOverride> = {},
): EntitlementOverride => ({ entitlement, effect: 'grant', ...(value !== undefined && { value }), ...more })
const revoke = (entitlement: string): EntitlementOverride => ({ entitlement, effect: 'revoke' })

type Row = [what: string, overrides: EntitlementOverride[], values: EntitlementValues]

describe('of a license that grants seats (5) and tier (gold), the values', () => {
  const own = { seats: 5, tier: 'gold' }
  test.each<Row>([
    ['are those of the key type without overrides', [], own],
    ['stay with a grant that has none', [grant('seats')], own],
    ['lack what is revoked', [revoke('seats')], { tier: 'gold' }],
    ['lack what is revoked and granted', [revoke('seats'), grant('seats', 9)], { tier: 'gold' }],
    ['give way to that of a grant', [grant('seats', 9)], { seats: 9, tier: 'gold' }],
    ['may be of another kind', [grant('seats', 'many')], { seats: 'many', tier: 'gold' }],
    ['have that of what is added', [grant('beta', true)], { ...own, beta: true }],
    ['have none of a mere addition', [grant('beta')], own],
    ['take no notice of other products', [grant('seats', 9, { productId: 'player' })], own],
    ['heed one until it ends', [grant('seats', 9, { expiresAt: after })], { seats: 9, tier: 'gold' }],
    ['and not at its end itself', [grant('seats', 9, { expiresAt: now })], own],
    [
      'take the one for the product before the one for all, whichever ends first',
      [grant('seats', 9, { expiresAt: after }), grant('seats', 7, { productId: 'editor' })],
      { seats: 7, tier: 'gold' },
    ],
    [
      'take the one that ends first',
      [grant('seats', 7), grant('seats', 9, { expiresAt: later }), grant('seats', 8, { expiresAt: after })],
      { seats: 8, tier: 'gold' },
    ],
  ])('%s', (_, overrides, values) => {
    const granted = withOverrides(['seats', 'tier'], overrides, 'editor', now)
    expect(grantedValues(granted, own, overrides, 'editor', now)).toStrictEqual(values)
  })
})

const names = ['1', 'a', 'constructor', 'd:e']
const name = fc.constantFrom(...names)
const value = fc.oneof(fc.constant(true as const), fc.integer(), fc.constantFrom('x', 'y'))
const overrides = fc.array(
  fc.record(
    {
      entitlement: name,
      effect: fc.constantFrom('grant' as const, 'revoke' as const),
      value,
      productId: fc.constantFrom('editor', 'player'),
      expiresAt: fc.constantFrom(before, now, after, later),
    },
    { requiredKeys: ['entitlement', 'effect'], noNullPrototype: true },
  ),
  { maxLength: 12 },
)
const own = fc.uniqueArray(name).map((list) => list.sort())
const ownValues = fc.dictionary(name, value, { noNullPrototype: true })
const moments = fc.constantFrom(before, now, after, later)

test('names with values are always granted names, whatever the order of the overrides', () =>
  fc.assert(
    fc.property(
      own,
      ownValues,
      overrides.chain((list) =>
        fc.tuple(fc.constant(list), fc.shuffledSubarray(list, { minLength: list.length })),
      ),
      moments,
      (license, values, [list, shuffled], moment) => {
        const granted = withOverrides(license, list, 'editor', moment)
        const found = grantedValues(granted, values, list, 'editor', moment)
        expect(granted).toEqual(expect.arrayContaining(Object.keys(found)))
        expect(grantedValues(granted, values, shuffled, 'editor', moment)).toStrictEqual(found)
        for (const each of granted) {
          const given = list.filter(
            ({ entitlement, effect, productId = 'editor', expiresAt = '9' }) =>
              entitlement === each && effect === 'grant' && productId === 'editor' && moment < expiresAt,
          )
          const theirs = given.flatMap((one) => one.value ?? [])
          const ofKeyType = Object.hasOwn(values, each) ? [values[each]] : [undefined]
          expect(theirs.length > 0 ? theirs : ofKeyType).toContain(
            Object.hasOwn(found, each) ? found[each] : undefined,
          )
        }
      },
    ),
    { numRuns: 1000 },
  ))

test('no value changes by the clock before the next end of an override', () =>
  fc.assert(
    fc.property(own, ownValues, overrides, moments, moments, (license, values, list, moment, other) => {
      const end = nextOverrideEnd(list, 'editor', moment)
      if (other < moment || (end !== null && other >= end)) return
      const at = (when: string) =>
        grantedValues(withOverrides(license, list, 'editor', when), values, list, 'editor', when)
      expect(at(other)).toStrictEqual(at(moment))
    }),
    { numRuns: 1000 },
  ))

describe('replacing the overrides of a customer', () => {
  const created: CustomerEvent = {
    type: 'CustomerCreated',
    data: {
      customerId: 'cus_1',
      tenantId: 'acme',
      subjectId: 'sub_1',
      email: 'sealed.a',
      name: null,
      metadata: {},
      at: now,
    },
  }
  const replace = (...list: EntitlementOverride[]) =>
    ({ type: 'ReplaceOverrides', overrides: list, at: now }) as const
  test('is refused when nothing decides which of two values counts', () => {
    given(created)
      .when(replace(grant('a', 1), grant('a', 2)))
      .expectRefusal('override_values_differ')
    const place = { productId: 'editor', expiresAt: later }
    given(created)
      .when(replace(grant('a', 1, place), grant('a', 'x', place)))
      .expectRefusal('override_values_differ')
  })
  test.each<[what: string, list: EntitlementOverride[]]>([
    ['with the same value twice', [grant('a', 1), grant('a', 1)]],
    ['with a value and none', [grant('a', 1), grant('a')]],
    ['with values for different products', [grant('a', 1), grant('a', 2, { productId: 'editor' })]],
    ['with values until different times', [grant('a', 1), grant('a', 2, { expiresAt: later })]],
    ['with values of different entitlements', [grant('a', 1), grant('b', 2)]],
  ])('succeeds %s', (_, list) =>
    given(created)
      .when(replace(...list))
      .expectEvents([{ type: 'EntitlementOverridesReplaced', data: { overrides: list, at: now } }]),
  )
})
