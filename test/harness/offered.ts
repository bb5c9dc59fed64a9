/** @see https://developer.paddle.com/api-reference/prices/list-prices */
export const paddlePrice = {
  id: 'pri_01gsz8x8sawmvhz1pv30nge1ke',
  product_id: 'pro_01gsz4t5hdjse780zja8vvr7jg',
  type: 'standard',
  description: 'Paid yearly',
  name: 'Yearly',
  billing_cycle: { interval: 'year', frequency: 1 },
  trial_period: null,
  tax_mode: 'account_setting',
  unit_price: { amount: '4900', currency_code: 'EUR' },
  unit_price_overrides: [],
  custom_data: null,
  status: 'active',
  quantity: { minimum: 1, maximum: 999_999 },
  import_meta: null,
  created_at: '2026-02-01T12:00:00.000Z',
  updated_at: '2026-02-01T12:00:00.000Z',
  product: {
    id: 'pro_01gsz4t5hdjse780zja8vvr7jg',
    name: 'Editor',
    type: 'standard',
    tax_category: 'standard',
    description: null,
    image_url: null,
    custom_data: null,
    status: 'active',
    import_meta: null,
    created_at: '2026-02-01T12:00:00.000Z',
    updated_at: '2026-02-01T12:00:00.000Z',
  },
}

/** @see https://polar.sh/docs/api-reference/products/list */
export const polarProducts = [
  {
    id: 'd8dd2de1-21b7-4a41-8bc3-ce909c0cfe23',
    name: 'Editor',
    description: null,
    is_archived: false,
    is_recurring: true,
    recurring_interval: 'month',
    prices: [{ id: 'price', amount_type: 'fixed', price_amount: 900, price_currency: 'usd' }],
  },
  {
    id: '1dbfc517-0bbf-4301-9ba8-555ca42b9737',
    name: 'Tip',
    description: null,
    is_archived: false,
    is_recurring: false,
    recurring_interval: null,
    prices: [{ id: 'price', amount_type: 'custom', price_currency: 'usd', minimum_amount: null }],
  },
]

/** @see https://docs.lemonsqueezy.com/api/variants/list-all-variants */
export const lemonSqueezyVariants = {
  meta: { page: { currentPage: 1, from: 1, lastPage: 1, perPage: 100, to: 4, total: 4 } },
  data: [
    ['1', 1, 'Default', 'pending'],
    ['2', 1, 'Team', 'published'],
    ['3', 2, 'Default', 'pending'],
    ['4', 2, 'Later', 'draft'],
  ].map(([id, product, name, status]) => ({
    type: 'variants',
    id,
    attributes: { product_id: product, name, slug: name, status, price: 999, is_subscription: false },
  })),
  included: [
    { type: 'products', id: '1', attributes: { store_id: 1, name: 'Editor', status: 'published' } },
    { type: 'products', id: '2', attributes: { store_id: 1, name: 'Viewer', status: 'published' } },
  ],
}
