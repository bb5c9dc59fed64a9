import { z } from 'zod'
import type { BounceKind } from '../../domain/mails/senders.ts'
import type { Incoming } from '../../payments/payment-provider.ts'
import { parsedAs } from '../../payments/translated.ts'
import { nothing, reportOf, text, type Verified } from './report.ts'
import { isOfSns, isSignedBySns, type ReadFromSns, SnsMessage } from './sns.ts'

const Header = z.object({ name: z.string(), value: z.string() })
const Recipient = z.object({ status: text })
const Told = z.object({
  notificationType: text,
  eventType: text,
  bounce: z
    .object({
      bounceType: text,
      feedbackId: text,
      bouncedRecipients: z.array(Recipient).optional().catch(undefined),
    })
    .optional()
    .catch(undefined),
  complaint: z.object({ feedbackId: text }).optional().catch(undefined),
  mail: z.object({ headers: z.array(Header).optional().catch(undefined) }),
})
type Told = z.infer<typeof Told>

/**
 * Notifications of Amazon SES, which Amazon SNS brings. A topic that asks whether it may is told yes.
 * @param topic the ARN of the only topic that may bring them
 * @throws ProviderUnreachable when the certificate or the confirmation cannot be read, so that SNS tries again
 * @see https://docs.aws.amazon.com/ses/latest/dg/notification-contents.html
 */
export async function readAmazonSes({ raw }: Incoming, topic: string, read: ReadFromSns): Promise<Verified> {
  const message = parsedAs(SnsMessage, raw.toString('utf8'))
  if (!message || message.TopicArn !== topic || !(await isSignedBySns(message, read))) return 'refused'
  if (message.Type === 'SubscriptionConfirmation') {
    const { SubscribeURL = '' } = message
    if (!isOfSns(SubscribeURL)) return 'refused'
    await read(SubscribeURL)
  }
  if (message.Type !== 'Notification') return nothing
  const told = parsedAs(Told, message.Message)
  if (!told) return nothing
  return {
    reports: reportOf({
      kind: kindOf(told),
      notificationId: told.bounce?.feedbackId ?? told.complaint?.feedbackId,
      status: told.bounce?.bouncedRecipients?.[0]?.status,
      ids: [headerOf(told, 'x-entity-ref-id'), headerOf(told, 'message-id')],
    }),
  }
}

const headerOf = ({ mail: { headers = [] } }: Told, wanted: string): string | undefined =>
  headers.find(({ name }) => name.toLowerCase() === wanted)?.value

/** `eventType` is what a configuration set sends. */
function kindOf({ notificationType, eventType = notificationType, bounce }: Told): BounceKind | undefined {
  if (eventType === 'Complaint') return 'complaint'
  if (eventType !== 'Bounce') return undefined
  return bounce?.bounceType === 'Permanent' ? 'permanent' : 'transient'
}
