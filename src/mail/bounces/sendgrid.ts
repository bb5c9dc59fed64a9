import { createPublicKey, verify } from 'node:crypto'
import { z } from 'zod'
import type { BounceKind } from '../../domain/mails/senders.ts'
import type { Incoming } from '../../payments/payment-provider.ts'
import { parsedAs } from '../../payments/translated.ts'
import { nothing, reportOf, text, type Verified } from './report.ts'

const Notification = z.array(
  z.object({
    event: text,
    type: text,
    status: text,
    sg_event_id: text,
    delivery: text,
    'smtp-id': text,
  }),
)
type Told = z.infer<typeof Notification>[number]

/**
 * The signed event webhook: ECDSA on P-256 over the timestamp and the body.
 * @param key the verification key, base64 of its DER
 * @see https://www.twilio.com/docs/sendgrid/for-developers/tracking-events/getting-started-event-webhook-security-features
 */
export function readSendGrid({ raw, header }: Incoming, key: string): Verified {
  const signature = Buffer.from(header('x-twilio-email-event-webhook-signature'), 'base64')
  const timestamp = header('x-twilio-email-event-webhook-timestamp')
  if (!isSigned(key, Buffer.concat([Buffer.from(timestamp), raw]), signature)) return 'refused'
  const events = parsedAs(Notification, raw.toString('utf8'))
  if (!events) return nothing
  const reports = events.flatMap((told) =>
    reportOf({
      kind: kindOf(told),
      notificationId: told.sg_event_id,
      status: told.status,
      ids: [told.delivery, told['smtp-id']],
    }),
  )
  return { reports }
}

function isSigned(key: string, signed: Buffer, signature: Buffer): boolean {
  try {
    const publicKey = createPublicKey({ key: Buffer.from(key, 'base64'), format: 'der', type: 'spki' })
    return verify('sha256', signed, publicKey, signature)
  } catch {
    return false
  }
}

/** A mail is dropped when it would go to an address that bounced before. While it is deferred, SendGrid goes on trying. */
function kindOf({ event, type }: Told): BounceKind | undefined {
  if (event === 'spamreport') return 'complaint'
  if (event === 'dropped') return 'permanent'
  if (event !== 'bounce') return undefined
  return type === 'blocked' ? 'transient' : 'permanent'
}
