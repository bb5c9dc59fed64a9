import type { Answered, Asked } from './stand-in.ts'

/** What Stripe's meters have been told. */
export type StripeMeters = {
  /** Who pays for each subscription. */
  buyers: Map<string, string>
  /** The event names of the meters that there are. */
  eventNames: Set<string>
  /** What counts, by its identifier. */
  events: Map<string, { eventName: string; customer: string; value: string; timestamp: number }>
  /** How many of the next answers get lost after the work. */
  losing: number
}

export const stripeMeters = (): StripeMeters => ({
  buyers: new Map(),
  eventNames: new Set(),
  events: new Map(),
  losing: 0,
})

const wrong = (message: string): Answered => ({
  status: 400,
  body: { error: { message, type: 'invalid_request_error' } },
})

/**
 * @see https://docs.stripe.com/api/billing/meter-event/create
 * @see https://docs.stripe.com/api/subscriptions/retrieve
 * @returns undefined for another resource
 */
export function answerOfMeters(meters: StripeMeters, { method, path, body }: Asked): Answered | undefined {
  const [, , what, id = ''] = path.split('/')
  if (method === 'GET' && what === 'subscriptions') {
    const customer = meters.buyers.get(id)
    if (customer === undefined) return wrong(`No such subscription: '${id}'`)
    return { status: 200, body: { id, object: 'subscription', customer, status: 'active' } }
  }
  if (method !== 'POST' || path !== '/v1/billing/meter_events') return undefined
  const form = new URLSearchParams(body)
  const field = (name: string) => form.get(name) ?? ''
  const eventName = field('event_name')
  const identifier = field('identifier')
  if (!meters.eventNames.has(eventName)) return wrong(`No active meter found for event name '${eventName}'.`)
  const event = {
    eventName,
    customer: field('payload[stripe_customer_id]'),
    value: field('payload[value]'),
    timestamp: Number(field('timestamp')),
  }
  const isKnown = meters.events.has(identifier)
  if (!isKnown) meters.events.set(identifier, event)
  if (meters.losing > 0) {
    meters.losing--
    return { status: 500, body: { error: { type: 'api_error' } } }
  }
  if (isKnown) return wrong(`An event already exists with identifier ${identifier}.`)
  return { status: 200, body: { object: 'billing.meter_event', identifier, event_name: eventName } }
}
