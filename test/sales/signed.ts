import { createHmac } from 'node:crypto'
import { Stripe } from 'stripe'
import type { Provider } from '../../src/domain/integrations/provider.ts'

/**
 * The headers with which a provider sends a body; gumroad signs nothing.
 * @param id the message's id, of a provider that sends one
 */
export function signatureOf(
  provider: Provider,
  raw: string,
  { secret, now, id }: { secret: string; now: Date; id: string },
): Record<string, string> {
  const mac = (text: string, encoding: 'hex' | 'base64') =>
    createHmac('sha256', secret).update(text).digest(encoding)
  const seconds = Math.floor(now.getTime() / 1000)
  switch (provider) {
    case 'stripe': {
      const signed = { payload: raw, timestamp: seconds, secret }
      return { 'stripe-signature': Stripe.webhooks.generateTestHeaderString(signed) }
    }
    case 'gumroad':
      return { 'content-type': 'application/x-www-form-urlencoded' }
    case 'lemonsqueezy':
      return { 'x-signature': mac(raw, 'hex') }
    case 'paddle':
      return { 'paddle-signature': `ts=${seconds};h1=${mac(`${seconds}:${raw}`, 'hex')}` }
    case 'polar':
      return {
        'webhook-id': id,
        'webhook-timestamp': String(seconds),
        'webhook-signature': `v1,${mac(`${id}.${seconds}.${raw}`, 'base64')}`,
      }
  }
}
