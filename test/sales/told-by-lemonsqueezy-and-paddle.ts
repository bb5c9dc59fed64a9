import {
  type Change,
  changedAt,
  endedAt,
  type Life,
  paidAt,
  paidUntil,
  refundsOf,
  type Sent,
} from './lives.ts'

/** Lemon Squeezy, without a key to ask it with: payments say no period, and the subscription says no payment. */
export function toldByLemonSqueezy(life: Life): Sent[] {
  const { name, amount, isSubscription, fates } = life
  const event = (event_name: string, id: string, attributes: object): Sent => ({
    raw: JSON.stringify({ meta: { event_name }, data: { id, attributes } }),
  })
  const first = life.isPerpetual ? 'variant_solo' : 'variant_solo_month'
  const subscription = (of: string, at: string, change: Change, until: string, more: object = {}): Sent =>
    event(of, `sub_${name}`, {
      order_id: `order_${name}`,
      variant_id: change.plan === 'solo' ? first : `variant_${change.plan}`,
      status: change.paused ? 'paused' : 'active',
      pause: change.paused ? { mode: 'void' } : null,
      first_subscription_item: { quantity: change.quantity },
      renews_at: until,
      updated_at: at,
      ...more,
    })
  const asSold: Change = { plan: 'solo', quantity: 1, paused: false }
  const payments = fates.flatMap((fate, number) => {
    const at = paidAt(number)
    const order = {
      user_email: `${name}@example.com`,
      currency: 'USD',
      total: amount,
      status: 'paid',
      first_order_item: { variant_id: first, quantity: 1 },
      created_at: at,
      updated_at: at,
    }
    const invoice = {
      subscription_id: `sub_${name}`,
      billing_reason: number === 0 ? 'initial' : 'renewal',
      currency: 'USD',
      total: amount,
      status: 'paid',
      created_at: at,
    }
    const failed = { ...invoice, status: 'pending', updated_at: at }
    let refunded = 0
    const refunds = refundsOf(fate, amount).flatMap((part) => {
      refunded += part
      const sums = {
        refunded_amount: refunded,
        refunded_at: at,
        status: refunded === amount ? 'refunded' : 'partial_refund',
      }
      return [
        ...(number === 0 ? [event('order_refunded', `order_${name}`, { ...order, ...sums })] : []),
        ...(isSubscription
          ? [event('subscription_payment_refunded', `inv_${name}_${number}`, { ...invoice, ...sums })]
          : []),
      ]
    })
    const paid = isSubscription
      ? [
          ...(number % 2 === 1
            ? [event('subscription_payment_failed', `inv_${name}_${number}`, failed)]
            : []),
          event('subscription_payment_success', `inv_${name}_${number}`, invoice),
          subscription(
            number === 0 ? 'subscription_created' : 'subscription_updated',
            at,
            asSold,
            paidUntil(number),
          ),
        ]
      : []
    return [...(number === 0 ? [event('order_created', `order_${name}`, order)] : []), ...paid, ...refunds]
  })
  const changes = life.changes.map((change, number) =>
    subscription('subscription_updated', changedAt(life, number), change, endedAt(life)),
  )
  const end = { status: 'expired', ends_at: endedAt(life) }
  const ended = subscription('subscription_expired', endedAt(life), asSold, endedAt(life), end)
  return [...payments, ...changes, ...(life.hasEnded ? [ended] : [])]
}

/** Paddle tells each refund as an adjustment of its own; one of all items by its parts is `partial`. */
export function toldByPaddle(life: Life): Sent[] {
  const { name, amount, isSubscription, fates } = life
  let count = 0
  const event = (event_type: string, occurred_at: string, data: object): Sent => ({
    raw: JSON.stringify({ event_id: `evt_${name}_${count++}`, event_type, occurred_at, data }),
  })
  const first = life.isPerpetual ? 'pri_solo' : 'pri_solo_month'
  const extra = life.extras > 0 ? [{ price: { id: 'pri_extra' }, quantity: life.extras }] : []
  const payments = fates.flatMap((fate, number) => {
    const at = paidAt(number)
    const transaction = {
      id: `txn_${name}_${number}`,
      origin: number === 0 ? 'web' : 'subscription_recurring',
      currency_code: 'USD',
      custom_data: { customer_email: `${name}@example.com` },
      items: [{ price: { id: first }, quantity: 1 }, ...extra],
      details: { totals: { total: String(amount), grand_total: String(amount) } },
      ...(isSubscription && {
        subscription_id: `sub_${name}`,
        billing_period: { starts_at: at, ends_at: paidUntil(number) },
      }),
    }
    const adjusted = (id: string, action: string, total: number, type = 'partial'): Sent =>
      event('adjustment.created', at, {
        id: `adj_${name}_${number}_${id}`,
        action,
        type,
        transaction_id: transaction.id,
        status: 'approved',
        currency_code: 'USD',
        totals: { total: String(total) },
      })
    const refunds = refundsOf(fate, amount).map((part, index) =>
      adjusted(`re${index}`, 'refund', part, part === amount && number % 2 === 0 ? 'full' : 'partial'),
    )
    const warned = fate === 'disputed' ? [adjusted('w', 'chargeback_warning', amount)] : []
    const lost = fate === 'lost' || fate === 'won' ? [adjusted('c', 'chargeback', amount)] : []
    const won = fate === 'won' ? [adjusted('r', 'chargeback_reverse', amount)] : []
    const unpaid = { ...transaction, payments: [{ status: 'error' }] }
    const failed =
      number % 2 === 1
        ? ['transaction.payment_failed', 'transaction.past_due'].map((type) => event(type, at, unpaid))
        : []
    const paid = event('transaction.completed', at, transaction)
    return [...failed, paid, ...refunds, ...warned, ...lost, ...won]
  })
  const changes = life.changes.map(({ plan, quantity, paused }, number) =>
    event('subscription.updated', changedAt(life, number), {
      id: `sub_${name}`,
      status: paused ? 'paused' : 'active',
      items: [{ price: { id: plan === 'solo' ? first : `pri_${plan}` }, quantity }, ...extra],
    }),
  )
  const ended = event('subscription.canceled', endedAt(life), {
    id: `sub_${name}`,
    current_billing_period: null,
  })
  return [...payments, ...changes, ...(life.hasEnded ? [ended] : [])]
}
