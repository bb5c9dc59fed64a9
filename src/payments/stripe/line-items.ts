import type { Stripe } from 'stripe'
import { z } from 'zod'
import { maxItems } from '../../domain/sales/events.ts'
import type { PaymentNotification } from '../notification.ts'
import { incomplete, type Translated } from '../translated.ts'
import type { Call } from './call.ts'

/** One thing that was bought in a session. */
export type LineItem = { price: string; quantity: number }

const LineItems = z.object({
  data: z.array(
    z.object({
      id: z.string().min(1).max(255),
      /** null where the amount was typed in for this session alone. */
      price: z.object({ id: z.string().min(1).max(255) }).nullish(),
      quantity: z.int().nonnegative().nullish(),
    }),
  ),
  has_more: z.boolean(),
})

/** The most that Stripe lists in one response. */
const inList = 100

/**
 * Reads all line items of a session, in Stripe's order. An item that the buyer has left out has the quantity 0, and is not
 * returned.
 * @see https://docs.stripe.com/api/checkout/sessions/line_items
 */
export async function listLineItems(
  call: Call,
  [key, options]: [string | undefined, Stripe.RequestOptions],
  sessionId: string,
): Promise<LineItem[]> {
  const found: z.infer<typeof LineItems>['data'] = []
  let hasMore = true
  // One item more than can be licensed is enough to refuse the session.
  while (hasMore && found.length <= maxItems) {
    const after = found.at(-1)
    const params = { limit: inList, ...(after && { starting_after: after.id }) }
    const page = await call(key, LineItems, (stripe) =>
      stripe.checkout.sessions.listLineItems(sessionId, params, options),
    )
    found.push(...page.data)
    hasMore = page.has_more && page.data.length > 0
  }
  return found.flatMap(({ id, price, quantity }) =>
    quantity === 0 ? [] : [{ price: price?.id ?? id, quantity: quantity ?? 1 }],
  )
}

/** Whether metadata or a payment link say what was sold; otherwise its session stands for it. */
export const isNamed = ({ sold, saleId }: Extract<PaymentNotification, { type: 'sold' }>): boolean =>
  'productId' in sold || sold.providerProduct !== saleId

/**
 * The sale with everything that was bought in its session. Metadata or a payment link that name what was sold name the
 * first line item; every other line item is known by its price.
 */
export function withLineItems(
  sale: Extract<PaymentNotification, { type: 'sold' }>,
  lineItems: readonly LineItem[],
): Translated {
  const [first, ...others] = lineItems
  if (!first) return sale
  if (lineItems.length > maxItems) return incomplete
  const more = others.map(({ price, quantity }) => ({ sold: { providerProduct: price }, quantity }))
  return {
    ...sale,
    ...(isNamed(sale) ? { priceId: first.price } : { sold: { providerProduct: first.price } }),
    quantity: first.quantity,
    ...(more.length > 0 && { more }),
  }
}
