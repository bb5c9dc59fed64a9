/** Ids are unique, start with their kind, and sort by creation time. */
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { newId } from '../../src/credentials/id.ts'

// Ahead of the real clock, because an id is never earlier than the last one of this process.
const start = Date.parse('2100-01-01T00:00:00.000Z')
beforeEach(() => vi.useFakeTimers({ now: start, toFake: ['Date'] }))
afterEach(() => vi.useRealTimers())

const crockford = '0123456789abcdefghjkmnpqrstvwxyz'
const bitsOf = (id: string) =>
  [...id.slice(id.indexOf('_') + 1)].reduce(
    (bits, character) => bits * 32n + BigInt(crockford.indexOf(character)),
    0n,
  )

test.each(['lic', 'ins', 'cus', 'cnf', 'tok', 'whd', 'tp', 'req', 'mem'] as const)(
  'an id of kind %s is the kind and 26 characters of Crockford’s base32',
  (kind) => expect(newId(kind)).toMatch(new RegExp(`^${kind}_[0-7][0-9a-hjkmnp-tv-z]{25}$`)),
)

test('an id is a UUIDv7: version, variant and the millisecond at which it was made', () => {
  vi.setSystemTime(start + 86_400_123)
  const bits = bitsOf(newId('lic'))
  expect(Number(bits >> 80n)).toBe(start + 86_400_123)
  expect((bits >> 76n) & 0xfn).toBe(7n)
  expect((bits >> 62n) & 0b11n).toBe(0b10n)
})

test('a later id sorts after an earlier one, a millisecond or a century apart', () => {
  const steps = [2, 1, 1, 31, 32, 1000, 86_400_000, 36_525 * 86_400_000]
  let now = start + 2 * 86_400_000
  const ids = steps.map((step) => {
    now += step
    vi.setSystemTime(now)
    return newId('tok')
  })
  expect(ids.toSorted()).toStrictEqual(ids)
  expect(new Set(ids).size).toBe(steps.length)
})

test('ids made within one millisecond are all different and keep their order', () => {
  const ids = Array.from({ length: 10_000 }, () => newId('req'))
  expect(new Set(ids).size).toBe(10_000)
  expect(ids.toSorted()).toStrictEqual(ids)
})

test('ids keep their order when the clock goes back', () => {
  vi.setSystemTime(start + 50_000 * 86_400_000)
  const before = newId('lic')
  vi.setSystemTime(start)
  expect(newId('lic') > before).toBe(true)
})
