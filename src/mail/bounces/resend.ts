import { z } from 'zod'
import type { BounceKind } from '../../domain/mails/senders.ts'
import type { Incoming } from '../../payments/payment-provider.ts'
import { hmac, isAmong, isFresh } from '../../payments/signature.ts'
import { parsedAs } from '../../payments/translated.ts'
import { nothing, reportOf, text, type Verified } from './report.ts'

const Header = z.object({ name: z.string(), value: z.string() })
const Notification = z.object({
  type: text,
  data: z.object({
    bounce: z.object({ type: text }).optional().catch(undefined),
    headers: z.array(Header).optional().catch(undefined),
    message_id: text,
  }),
})

/**
 * Signed by Svix: HMAC-SHA256 over the id, the timestamp and the body.
 * @param secret `whsec_…`
 * @see https://resend.com/docs/webhooks/emails/bounced
 */
export function readResend({ raw, header }: Incoming, secret: string, now: Date): Verified {
  const [id, timestamp] = [header('svix-id'), header('svix-timestamp')]
  const key = Buffer.from(secret.slice('whsec_'.length), 'base64')
  const signatures = header('svix-signature')
    .split(' ')
    .flatMap((entry) => (entry.startsWith('v1,') ? [entry.slice(3)] : []))
  if (!isFresh(timestamp, now) || !isAmong(hmac(key, `${id}.${timestamp}.`, raw), signatures, 'base64'))
    return 'refused'
  const told = parsedAs(Notification, raw.toString('utf8'))
  if (!told) return nothing
  const { bounce, headers = [], message_id } = told.data
  const ref = headers.find(({ name }) => name.toLowerCase() === 'x-entity-ref-id')
  return {
    reports: reportOf({
      kind: kindOf(told.type, bounce?.type),
      notificationId: id,
      ids: [ref?.value, message_id],
    }),
  }
}

/** A bounce without a type is permanent: Resend tells of those alone by default. */
function kindOf(type: string | undefined, bounceType: string | undefined): BounceKind | undefined {
  if (type === 'email.complained') return 'complaint'
  if (type !== 'email.bounced') return undefined
  return bounceType === undefined || bounceType === 'Permanent' ? 'permanent' : 'transient'
}
