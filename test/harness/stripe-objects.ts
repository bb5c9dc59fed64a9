export type StripePrice = {
  owner: string
  active?: boolean
  unit_amount?: number | null
  currency?: string
  recurring?: { interval: string; interval_count: number } | null
  nickname?: string
  /** The name of its product, and whether that is archived. */
  product?: { name: string; active: boolean }
}

/** `price` is null for an amount that was typed in. */
export type StripeLineItem = { price: string | null; quantity: number | null }

/** @see https://docs.stripe.com/api/prices/object */
export function stripePrice(id: string, found: StripePrice) {
  const { active = true, unit_amount = 2900, currency = 'usd', recurring = null } = found
  return {
    id,
    object: 'price',
    active,
    billing_scheme: 'per_unit',
    created: 1_772_366_400,
    currency,
    livemode: false,
    lookup_key: null,
    metadata: {},
    nickname: null,
    product: 'prod_NWjs8kKbJWmuuc',
    recurring: recurring && { ...recurring, usage_type: 'licensed', trial_period_days: null },
    type: recurring ? 'recurring' : 'one_time',
    unit_amount,
    unit_amount_decimal: unit_amount === null ? null : String(unit_amount),
  }
}

/**
 * A page of a session's line items.
 * @param inPage the most that it returns at once
 * @see https://docs.stripe.com/api/checkout/sessions/line_items
 */
export function lineItemsOf(
  session: string,
  bought: readonly StripeLineItem[],
  query: URLSearchParams,
  inPage: number,
) {
  const all = bought.map(({ price, quantity }, index) => ({
    id: `li_${session}_${index}`,
    object: 'item',
    amount_discount: 0,
    amount_subtotal: 2900,
    amount_tax: 0,
    amount_total: 2900,
    currency: 'usd',
    description: 'Acme Editor',
    price: price === null ? null : stripePrice(price, { owner: '' }),
    quantity,
  }))
  const after = query.get('starting_after')
  const begin = after === null ? 0 : all.findIndex(({ id }) => id === after) + 1
  const end = begin + Math.min(Number(query.get('limit') ?? 10), inPage)
  const url = `/v1/checkout/sessions/${session}/line_items`
  return { object: 'list', data: all.slice(begin, end), has_more: end < all.length, url }
}
