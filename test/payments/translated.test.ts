/**
 * A notification that cannot be recorded is rejected before anything of it is recorded; any other is passed
 * on unchanged.
 */
import { describe, expect, test } from 'vitest'
import type { PaymentNotification } from '../../src/payments/notification.ts'
import { faultOf, inOneLine, withBuyer } from '../../src/payments/translated.ts'

const sold: Extract<PaymentNotification, { type: 'sold' }> = {
  provider: 'stripe',
  notificationId: 'evt_1',
  test: false,
  at: '2026-03-01T12:00:00.000Z',
  type: 'sold',
  saleId: 'cs_1',
  sessionId: 'cs_1',
  links: ['payment:pi_1'],
  sold: { productId: 'editor', keyTypeId: 'pro' },
  quantity: 1,
  customer: { email: 'ada@example.com', name: 'Ada' },
  amount: 2900,
  currency: 'usd',
  productName: 'Editor',
}

test('a sale as providers send it can be recorded, and stays as it is', () => {
  expect(faultOf(sold)).toBeUndefined()
  expect(inOneLine(sold)).toStrictEqual(sold)
})

describe('what cannot be recorded:', () => {
  test.each<[string, Partial<typeof sold>, RegExp]>([
    ['NUL in an id', { saleId: 'a\0b' }, /^saleId must be well-formed/],
    [
      'half of a surrogate pair in an id',
      { notificationId: 'a\ud800' },
      /^notificationId must be well-formed/,
    ],
    [
      'a control character in a link',
      { links: ['payment:a', 'payment:a\u001b'] },
      /^links must be well-formed/,
    ],
    ['an empty id', { sold: { providerProduct: '' } }, /^providerProduct must not be empty/],
    ['an id that is too long', { sold: { productId: 'p'.repeat(491) } }, /^productId is too long/],
    ['NUL in a name', { customer: { email: 'a@b.c', name: '\0' } }, /^name must be well-formed/],
    ['an unknown form of currency', { currency: '€' }, /^currency must be a code/],
    ['the year 275760', { paidUntil: '+275760-09-13T00:00:00.000Z' }, /^paidUntil must be a time/],
    ['half a cent', { amount: 0.5 }, /^amount must be a whole number/],
    ['less than nothing', { amount: -1 }, /^amount must be a whole number/],
    ['more than can be counted', { quantity: 2 ** 53 }, /^quantity must be a whole number/],
  ])('%s', (_what, odd, fault) => expect(faultOf({ ...sold, ...odd })).toMatch(fault))
})

test('names of several lines become one line, and none becomes unknown', () =>
  expect(
    inOneLine({ ...sold, productName: '\n', customer: { email: 'ada@example.com', name: 'Ada\r\n\tL. ' } }),
  ).toMatchObject({ productName: 'Unknown product', customer: { name: 'Ada L.' } }))

test.each([
  ['a&b@example.com', 'a&b@example.com'],
  [' ada@bücher.example\t', 'ada@bücher.example'],
  ['ada', null],
  ['ada lovelace@example.com', null],
  [' ', null],
  [`${'a'.repeat(1000)}@example.com`, null],
])('the buyer with the address %j is %j: a sale is no less one when the address is none', (email, buyer) => {
  const customer = { email, name: 'Ada' }
  expect(withBuyer({ ...sold, customer })).toStrictEqual({
    ...sold,
    customer: buyer === null ? null : { email: buyer, name: 'Ada' },
  })
})
