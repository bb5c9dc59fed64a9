import { z } from 'zod'
import { maxItems } from '../../domain/sales/events.ts'
import { callWithKey, contentOf } from '../call-with-key.ts'
import { Numeric } from './payload.ts'

export type OrderItem = { variantId: string; productName: string | null; quantity: number }

const OrderItems = z.object({
  data: z.array(
    z.object({
      attributes: z.object({
        variant_id: Numeric,
        product_name: z.string().nullish(),
        quantity: z.int().positive().default(1),
      }),
    }),
  ),
  meta: z.object({ page: z.object({ lastPage: z.int() }) }),
})

/** The most that Lemon Squeezy lists in one response. */
const inList = 100

/**
 * Reads all items of an order, the first one first.
 * @see https://docs.lemonsqueezy.com/api/order-items/list-all-order-items
 * @throws ProviderRefused, ProviderUnavailable
 */
export async function readOrderItems(
  apiUrl: string,
  apiKey: string,
  orderId: string,
  timeLimitMs: number,
): Promise<OrderItem[]> {
  const call = { apiKey, accept: 'application/vnd.api+json', timeLimitMs }
  const filter = `filter%5Border_id%5D=${encodeURIComponent(orderId)}&page%5Bsize%5D=${inList}`
  const found: OrderItem[] = []
  // One item more than can be licensed is enough to refuse the order.
  for (let page = 1, last = 1; page <= last && found.length <= maxItems; page++) {
    const url = `${apiUrl}/v1/order-items?${filter}&page%5Bnumber%5D=${page}`
    const { data, meta } = contentOf(OrderItems, await callWithKey('lemonsqueezy', url, call))
    last = data.length > 0 ? meta.page.lastPage : page
    found.push(
      ...data.map(({ attributes: { variant_id: variantId, product_name: name, quantity } }) => ({
        variantId,
        productName: name ?? null,
        quantity,
      })),
    )
  }
  return found
}
