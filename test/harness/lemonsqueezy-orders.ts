/** What was bought in an order, each a variant. */
export type BoughtVariants = { variant: number; quantity: number }[]

/** As Lemon Squeezy gives two of them at once, however many are asked for. */
const inPage = 2

/** @see https://docs.lemonsqueezy.com/api/order-items/list-all-order-items */
export function orderItemsOf(orders: Map<string, BoughtVariants>, query: URLSearchParams) {
  const orderId = query.get('filter[order_id]') ?? ''
  const number = Number(query.get('page[number]') ?? 1)
  const all = (orders.get(orderId) ?? []).map(({ variant, quantity }, index) => ({
    type: 'order-items',
    id: String(index + 1),
    attributes: {
      order_id: Number(orderId),
      product_id: 1,
      variant_id: variant,
      product_name: 'Acme Editor',
      variant_name: 'Pro',
      price: 2900,
      quantity,
    },
  }))
  const lastPage = Math.max(1, Math.ceil(all.length / inPage))
  const page = { currentPage: number, perPage: inPage, total: all.length, lastPage }
  return { meta: { page }, data: all.slice((number - 1) * inPage, number * inPage) }
}
