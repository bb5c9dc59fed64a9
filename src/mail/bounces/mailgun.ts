import { z } from 'zod'
import type { BounceKind } from '../../domain/mails/senders.ts'
import type { Incoming } from '../../payments/payment-provider.ts'
import { hmac, isAmong } from '../../payments/signature.ts'
import { parsedAs } from '../../payments/translated.ts'
import { reportOf, text, type Verified } from './report.ts'

const Notification = z.object({
  signature: z.object({
    timestamp: z.union([z.string(), z.number()]).transform(String),
    token: z.string().min(1),
    signature: z.string(),
  }),
  'event-data': z
    .object({
      event: text,
      severity: text,
      'user-variables': z.object({ delivery: text }).optional().catch(undefined),
      'delivery-status': z.object({ 'enhanced-code': text }).optional().catch(undefined),
      message: z
        .object({ headers: z.object({ 'message-id': text }) })
        .optional()
        .catch(undefined),
    })
    .optional()
    .catch(undefined),
})

/**
 * The signature is in the body: HMAC-SHA256 over its timestamp and token. It covers nothing else, so only the secret
 * address keeps others from sending the same signature with another event.
 * @param key the HTTP webhook signing key
 * @see https://documentation.mailgun.com/docs/mailgun/user-manual/webhooks/securing-webhooks
 */
export function readMailgun({ raw }: Incoming, key: string): Verified {
  const told = parsedAs(Notification, raw.toString('utf8'))
  if (!told) return 'refused'
  const { timestamp, token, signature } = told.signature
  if (!isAmong(hmac(key, timestamp, token), [signature], 'hex')) return 'refused'
  const { event, severity, message, ...data } = told['event-data'] ?? {}
  return {
    reports: reportOf({
      kind: kindOf(event, severity),
      // An event's own id is unique only within a day.
      notificationId: token,
      status: data['delivery-status']?.['enhanced-code'],
      ids: [data['user-variables']?.delivery, message?.headers['message-id']],
    }),
  }
}

function kindOf(event: string | undefined, severity: string | undefined): BounceKind | undefined {
  if (event === 'complained') return 'complaint'
  if (event !== 'failed') return undefined
  return severity === 'temporary' ? 'transient' : 'permanent'
}
