import { expect, test } from 'vitest'
import { translatePing } from '../../src/payments/gumroad/notification.ts'

const at = '2026-11-01T00:00:00.000Z'
const required = 'resource_name=sale&sale_id=s1&email=ada%40example.com'

test('a ping with what is required alone is a sale with the defaults', () => {
  expect(translatePing(`${required}&product_permalink=editor`, at)).toMatchObject({
    type: 'sold',
    saleId: 's1',
    sessionId: 'gr_s1',
    sold: { providerProduct: 'editor' },
    customer: { email: 'ada@example.com' },
    quantity: 1,
    amount: 0,
    currency: 'usd',
    productName: 'Unknown product',
    at,
  })
})

test('a test and another resource are ignored, a sale without id or address is incomplete', () => {
  expect(translatePing(`${required}&test=true`, at)).toStrictEqual({ type: 'ignored' })
  expect(translatePing(required.replace('sale&', 'refund&'), at)).toStrictEqual({ type: 'ignored' })
  expect(translatePing('resource_name=sale&sale_id=s1', at)).toStrictEqual({ type: 'incomplete' })
  expect(translatePing('resource_name=sale&email=a%40b.c', at)).toStrictEqual({ type: 'incomplete' })
})
