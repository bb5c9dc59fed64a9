/**
 * A license gets its seats and its expiry from its key type unless the request sets them, and never more
 * units than the key type allows.
 */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { termsFrom, termsOf } from '../../../src/domain/licenses/issue.ts'
import { defaultKeyType, type KeyType } from '../../../src/domain/products/key-type.ts'
import { Refusal } from '../../../src/domain/refusal.ts'

const at = '2026-03-01T12:00:00.500Z'

const single: KeyType = { ...defaultKeyType, deviceLimit: 3 }
const yearly: KeyType = { ...single, duration: { count: 1, unit: 'year' } }
const inMultiples: KeyType = { ...single, sellInMultiples: true, maxQuantity: 10 }
const unlimited: KeyType = { ...inMultiples, deviceLimit: null }

describe('the terms of the key type', () => {
  test('are one unit, its devices and no end when it is perpetual', () =>
    expect(termsOf(single, {}, at)).toStrictEqual({ quantity: 1, deviceLimit: 3, expiresAt: null }))

  test('end a duration after the license is issued, on a whole second', () =>
    expect(termsOf(yearly, {}, at).expiresAt).toBe('2027-03-01T12:00:00.000Z'))

  test('are the same when the request names a field as undefined', () =>
    expect(
      termsOf(yearly, { quantity: undefined, deviceLimit: undefined, expiresAt: undefined }, at),
    ).toStrictEqual(termsOf(yearly, {}, at)))
})

describe('several units', () => {
  test('have the devices of each', () =>
    expect(termsOf(inMultiples, { quantity: 4 }, at)).toStrictEqual({
      quantity: 4,
      deviceLimit: 12,
      expiresAt: null,
    }))

  test('of unlimited devices are unlimited', () =>
    expect(termsOf(unlimited, { quantity: 4 }, at).deviceLimit).toBeNull())

  test('are refused where the key type is not sold in multiples', () =>
    expect(() => termsOf(single, { quantity: 2 }, at)).toThrow(new Refusal('quantity_not_allowed')))

  test('one unit is never a multiple', () => expect(termsOf(single, { quantity: 1 }, at).quantity).toBe(1))

  test('are allowed up to the greatest quantity, and refused from one above it', () => {
    expect(termsOf(inMultiples, { quantity: 10 }, at).deviceLimit).toBe(30)
    expect(() => termsOf(inMultiples, { quantity: 11 }, at)).toThrow(new Refusal('quantity_too_large'))
  })

  test('are allowed in any number where no greatest quantity is set', () =>
    expect(termsOf({ ...inMultiples, maxQuantity: null }, { quantity: 100_000 }, at).deviceLimit).toBe(
      300_000,
    ))

  test('have at most a thousand million seats together', () => {
    const large: KeyType = { ...inMultiples, deviceLimit: 100_000, maxQuantity: null }
    expect(termsOf(large, { quantity: 10_000 }, at).deviceLimit).toBe(1_000_000_000)
    expect(() => termsOf(large, { quantity: 10_001 }, at)).toThrow(new Refusal('quantity_too_large'))
  })
})

describe('the terms of the request', () => {
  test('its device limit is that of the whole license, not of a unit', () =>
    expect(termsOf(inMultiples, { quantity: 4, deviceLimit: 5 }, at).deviceLimit).toBe(5))

  test('a device limit of null is unlimited', () =>
    expect(termsOf(single, { deviceLimit: null }, at).deviceLimit).toBeNull())

  test('an expiry of null is perpetual, regardless of the key type', () =>
    expect(termsOf(yearly, { expiresAt: null }, at).expiresAt).toBeNull())

  test('its expiry is kept, cut to the second', () =>
    expect(termsOf(yearly, { expiresAt: '2026-03-05T00:00:00.999Z' }, at).expiresAt).toBe(
      '2026-03-05T00:00:00.000Z',
    ))

  test('an expiry in the next second is accepted', () =>
    expect(termsOf(single, { expiresAt: '2026-03-01T12:00:01.000Z' }, at).expiresAt).toBe(
      '2026-03-01T12:00:01.000Z',
    ))

  test.each([
    ['now', at],
    ['later in this second, which on the wire is now', '2026-03-01T12:00:00.900Z'],
    ['in the past', '2026-02-28T00:00:00.000Z'],
  ])('an expiry %s is refused', (_, expiresAt) =>
    expect(() => termsOf(single, { expiresAt }, at)).toThrow(new Refusal('expiry_in_the_past')),
  )

  test('an expiry at this very moment is refused when the moment is a whole second', () => {
    const moment = '2026-03-01T12:00:00.000Z'
    expect(() => termsOf(single, { expiresAt: moment }, moment)).toThrow(new Refusal('expiry_in_the_past'))
  })
})

test('seats are exactly the units times the devices of each', () =>
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 10 }),
      fc.integer({ min: 1, max: 100_000 }),
      (quantity, deviceLimit) => {
        expect(termsOf({ ...inMultiples, deviceLimit }, { quantity }, at).deviceLimit).toBe(
          quantity * deviceLimit,
        )
      },
    ),
  ))

describe('a license that another system issued', () => {
  test('has the terms of one issued then, ended or not', () => {
    const then = '2020-02-29T12:00:00.500Z'
    expect(termsFrom(yearly, {}, then)).toStrictEqual(termsOf(yearly, {}, then))
    expect(termsFrom(yearly, {}, then).expiresAt).toBe('2021-02-28T12:00:00.000Z')
  })

  test('may have expired already, unlike one that is issued now', () => {
    const asked = { expiresAt: '2026-02-01T00:00:00.900Z' }
    expect(termsFrom(single, asked, at).expiresAt).toBe('2026-02-01T00:00:00.000Z')
    expect(() => termsOf(single, asked, at)).toThrow(new Refusal('expiry_in_the_past'))
  })

  test('is bound by the quantities of its key type like any other', () => {
    expect(() => termsFrom(single, { quantity: 2 }, at)).toThrow(new Refusal('quantity_not_allowed'))
    expect(() => termsFrom(inMultiples, { quantity: 11 }, at)).toThrow(new Refusal('quantity_too_large'))
  })
})
