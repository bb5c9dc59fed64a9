import { changedAt, endedAt, type Life, paidAt, paidUntil, refundsOf, type Sent } from './lives.ts'

/** Gumroad sells what stands in the address: one permalink a key type of the vendor's. */
export function toldByGumroad(life: Life): Sent[] {
  const { name, amount, isSubscription, isPerpetual, fates } = life
  const form = (fields: Record<string, string>): string => new URLSearchParams(fields).toString()
  const saleOf = (number: number) => ({
    sale_id: `gr_${name}_${number}`,
    sale_timestamp: paidAt(number),
    product_permalink: `https://acme.gumroad.com/l/${isPerpetual ? 'editor' : 'monthly'}`,
    email: `${name}@example.com`,
    price: String(amount),
    currency: 'usd',
    quantity: '1',
    ...(isSubscription && { subscription_id: `sub_${name}`, recurrence: 'monthly' }),
  })
  const payments = fates.flatMap((fate, number) => {
    const sale = saleOf(number)
    const again: Record<string, string> = number === 0 ? {} : { is_recurring_charge: 'true' }
    const resource = (resource_name: string, more: Record<string, string>): Sent => ({
      raw: form({ ...sale, ...again, resource_name, ...more }),
      address: 'resource',
    })
    const refunds = refundsOf(fate, amount)
    const isWhole = fate === 'parts' || fate === 'refunded'
    const told = refunds.map((_, index) =>
      resource('refund', { refunded: String(isWhole && index === refunds.length - 1), part: String(index) }),
    )
    const isDisputed = fate === 'lost' || fate === 'won'
    const opened = isDisputed ? [resource('dispute', { disputed: 'true' })] : []
    const won = fate === 'won' ? [resource('dispute_won', { disputed: 'true', dispute_won: 'true' })] : []
    return [{ raw: form({ ...sale, ...again, resource_name: 'sale' }) }, ...told, ...opened, ...won]
  })
  const ended = {
    resource_name: 'subscription_ended',
    subscription_id: `sub_${name}`,
    ended_at: endedAt(life),
    ended_reason: life.isPaidInFull ? 'fixed_subscription_period_ended' : 'cancelled',
  }
  return [...payments, ...(life.hasEnded ? [{ raw: form(ended), address: 'resource' as const }] : [])]
}

/** Polar tells an order with all that was refunded of it, its tax apart. */
export function toldByPolar(life: Life): Sent[] {
  const { name, amount, isSubscription, fates } = life
  const event = (type: string, timestamp: string, data: object): Sent => ({
    raw: JSON.stringify({ type, timestamp, data }),
  })
  const product = life.isPerpetual ? 'prod_solo' : 'prod_solo_month'
  const payments = fates.flatMap((fate, number) => {
    const reason = number > 0 ? 'subscription_cycle' : isSubscription ? 'subscription_create' : 'purchase'
    const order = {
      id: `ord_${name}_${number}`,
      billing_reason: reason,
      status: 'paid',
      total_amount: amount,
      refunded_amount: 0,
      refunded_tax_amount: 0,
      currency: 'usd',
      product_id: product,
      checkout_id: `chk_${name}`,
      customer: { email: `${name}@example.com`, name: null },
      ...(isSubscription && {
        subscription_id: `sub_${name}`,
        subscription: { current_period_end: paidUntil(number) },
      }),
    }
    let refunded = 0
    const refunds = refundsOf(fate, amount).map((part) => {
      refunded += part
      const tax = Math.floor(refunded / 6)
      const status = refunded === amount ? 'refunded' : 'partially_refunded'
      const sums = { refunded_amount: refunded - tax, refunded_tax_amount: tax }
      return event('order.refunded', paidAt(number), { ...order, status, ...sums })
    })
    const subscription = { id: `sub_${name}`, status: 'past_due', current_period_end: paidUntil(number) }
    const failed = number % 2 === 1 ? [event('subscription.past_due', paidAt(number), subscription)] : []
    return [...failed, event('order.paid', paidAt(number), order), ...refunds]
  })
  const changes = life.changes.map(({ plan, quantity, paused }, number) =>
    event('subscription.updated', changedAt(life, number), {
      id: `sub_${name}`,
      status: paused ? 'paused' : 'active',
      product_id: plan === 'solo' ? product : `prod_${plan}`,
      seats: quantity,
    }),
  )
  const ended = event('subscription.revoked', endedAt(life), { id: `sub_${name}`, ended_at: endedAt(life) })
  return [...payments, ...changes, ...(life.hasEnded ? [ended] : [])]
}
