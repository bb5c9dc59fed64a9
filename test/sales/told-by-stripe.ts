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

export const stripeAccount = 'acct_1T8oxK0AcRNJbwd4'

const seconds = (moment: string): number => Math.floor(Date.parse(moment) / 1000)

/**
 * What stripe tells of a life. Of every second payment as up to version `2025-02-24.acacia`, whose charges and invoices
 * name each other; of the others as since, with `invoice_payment.paid` alone.
 */
export function toldByStripe(life: Life): Sent[] {
  let count = 0
  const event = (type: string, at: string, object: object, previous?: object): Sent => ({
    raw: JSON.stringify({
      id: `evt_${life.name}_${count++}`,
      object: 'event',
      account: stripeAccount,
      type,
      livemode: true,
      created: seconds(at),
      data: { object, ...(previous && { previous_attributes: previous }) },
    }),
  })
  const payments = life.fates.flatMap((_, number) => toldOfPayment(life, number, event))
  const ended = event('customer.subscription.deleted', endedAt(life), {
    ...subscriptionOf(life, { plan: 'solo', quantity: 1, paused: false }),
    current_period_end: seconds(endedAt(life)),
  })
  return [...payments, ...changesOf(life, event), ...(life.hasEnded ? [ended] : [])]
}

type Event = (type: string, at: string, object: object, previous?: object) => Sent

function toldOfPayment(life: Life, number: number, event: Event): Sent[] {
  const { name, amount, isSubscription } = life
  const isOld = number % 2 === 1
  const [payment, invoice] = [`pi_${name}_${number}`, `in_${name}_${number}`]
  const at = paidAt(number)
  const session = {
    id: `cs_${name}`,
    object: 'checkout.session',
    mode: isSubscription ? 'subscription' : 'payment',
    payment_status: 'paid',
    amount_total: amount,
    currency: 'usd',
    customer_details: { email: `${name}@example.com`, name: null },
    metadata: { product_id: 'editor', key_type_id: life.isPerpetual ? 'solo' : 'solo-month' },
    ...(isSubscription ? { subscription: `sub_${name}`, invoice } : { payment_intent: payment }),
  }
  const paid = {
    id: invoice,
    object: 'invoice',
    billing_reason: number === 0 ? 'subscription_create' : 'subscription_cycle',
    amount_paid: amount,
    currency: 'usd',
    ...(isOld
      ? { subscription: `sub_${name}`, payment_intent: payment }
      : { parent: { subscription_details: { subscription: `sub_${name}` } } }),
    lines: { data: [{ period: { start: seconds(at), end: seconds(paidUntil(number)) } }] },
  }
  const failed = { amount_paid: 0, attempt_count: 1, next_payment_attempt: seconds(at) + 86_400 }
  const named = {
    object: 'invoice_payment',
    invoice,
    payment: { type: 'payment_intent', payment_intent: payment },
  }
  return [
    ...(number === 0 ? [event('checkout.session.completed', at, session)] : []),
    ...(isOld ? [event('invoice.payment_failed', at, { ...paid, ...failed })] : []),
    ...(isSubscription ? [event('invoice.paid', at, paid)] : []),
    ...(isSubscription && !isOld ? [event('invoice_payment.paid', at, named)] : []),
    ...moneyOf(life, number, { payment_intent: payment, ...(isOld && { invoice }) }, event),
  ]
}

function moneyOf({ name, amount, fates }: Life, number: number, of: object, event: Event): Sent[] {
  const fate = fates[number] ?? 'kept'
  let refunded = 0
  const refunds = refundsOf(fate, amount).map((part) => {
    const before = refunded
    refunded += part
    const charge = { id: `ch_${name}_${number}`, object: 'charge', currency: 'usd', ...of }
    const object = { ...charge, amount, amount_refunded: refunded, refunded: refunded === amount }
    return event('charge.refunded', paidAt(number), object, { amount_refunded: before })
  })
  const dispute = (type: string, status: string): Sent =>
    event(type, paidAt(number), { id: `du_${name}_${number}`, status, amount, currency: 'usd', ...of })
  const isDisputed = fate === 'disputed' || fate === 'lost' || fate === 'won'
  const opened = isDisputed ? [dispute('charge.dispute.created', 'needs_response')] : []
  const closed = fate === 'lost' || fate === 'won' ? [dispute('charge.dispute.closed', fate)] : []
  return [...refunds, ...opened, ...closed]
}

const itemsOf = ({ plan, quantity }: Change) => ({ data: [{ price: { id: `price_${plan}` }, quantity }] })

const subscriptionOf = ({ name }: Life, change: Change) => ({
  id: `sub_${name}`,
  object: 'subscription',
  status: 'active',
  pause_collection: change.paused ? { behavior: 'void' } : null,
  items: itemsOf(change),
})

/** Only what is another than before stands in `previous_attributes`. */
function changesOf(life: Life, event: Event): Sent[] {
  let before: Change = { plan: 'solo', quantity: 1, paused: false }
  return life.changes.map((change, number) => {
    const previous = {
      ...(before.paused !== change.paused && {
        pause_collection: before.paused ? { behavior: 'void' } : null,
      }),
      ...((before.plan !== change.plan || before.quantity !== change.quantity) && { items: itemsOf(before) }),
    }
    before = change
    const at = changedAt(life, number)
    return event('customer.subscription.updated', at, subscriptionOf(life, change), previous)
  })
}
