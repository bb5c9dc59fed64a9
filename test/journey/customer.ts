import { Stripe } from 'stripe'
import type { StandIn } from '../harness/stand-in.ts'

export const stripeSecret = 'whsec_of_the_account'

/** The seller's own page: opens a checkout. @returns the address at Stripe that the customer is sent to */
export async function openCheckout(shop: { address: string; checkoutKey: string }): Promise<string> {
  const answer = await fetch(`${shop.address}/api/demo/checkout`, {
    method: 'POST',
    headers: { authorization: `Bearer ${shop.checkoutKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      product_id: 'acme-editor',
      key_type_id: 'pro',
      customer_email: 'grace@northwind.example',
      success_url: 'https://acme.example/thanks',
      cancel_url: 'https://acme.example/prices',
    }),
  })
  if (!answer.ok) throw new Error(`no checkout: ${answer.status} ${await answer.text()}`)
  return ((await answer.json()) as { url: string }).url
}

/** The customer pays at Stripe, which tells the tenant's address about it. */
export async function pay(address: string, stripe: StandIn): Promise<number> {
  const opened = stripe.asked.findLast(({ path }) => path === '/v1/checkout/sessions')
  const form = new URLSearchParams(opened?.body)
  const metadata = Object.fromEntries(
    [...form].flatMap(([name, value]) => {
      const [, key] = /^metadata\[(\w+)\]$/.exec(name) ?? []
      return key === undefined ? [] : [[key, value]]
    }),
  )
  const created = Math.floor(Date.now() / 1000)
  const object = {
    id: 'cs_live_b7Xq2',
    object: 'checkout.session',
    mode: 'payment',
    payment_status: 'paid',
    amount_total: 4900,
    currency: 'usd',
    customer_details: { email: 'grace@northwind.example', name: 'Grace Hopper' },
    metadata,
    payment_intent: 'pi_3QeL8',
  }
  const type = 'checkout.session.completed'
  const event = { id: 'evt_1QeL8', object: 'event', type, livemode: true, created, data: { object } }
  const payload = JSON.stringify(event)
  const signed = { payload, secret: stripeSecret, timestamp: created }
  const answer = await fetch(`${address}/api/stripe/webhook/demo`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'stripe-signature': Stripe.webhooks.generateTestHeaderString(signed),
    },
    body: payload,
  })
  return answer.status
}

type App = { address: string; sdkKey: string; licenseKey: string }
type Answered = { status: number; body: Record<string, unknown> }

/** The app on one of the customer's devices asks for a seat. */
export const activateApp = (app: App, device: string): Promise<Answered> =>
  call(app, 'activate', { instance_name: device })

/** The app on a device with a seat asks whether it may run. */
export const validateApp = (app: App, instanceId: string): Promise<Answered> =>
  call(app, 'validate', { instance_id: instanceId })

async function call(
  { address, sdkKey, licenseKey }: App,
  operation: string,
  fields: Record<string, string>,
): Promise<Answered> {
  const answer = await fetch(`${address}/demo/acme-editor/${operation}`, {
    method: 'POST',
    headers: { 'x-service-sdk-key': sdkKey, 'content-type': 'application/json' },
    body: JSON.stringify({ license_key: licenseKey, ...fields }),
  })
  return { status: answer.status, body: (await answer.json()) as Record<string, unknown> }
}
