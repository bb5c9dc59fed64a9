import type { MailSender } from '../../domain/mails/senders.ts'
import type { Incoming } from '../../payments/payment-provider.ts'
import type { Ports } from '../../ports.ts'
import { readAmazonSes } from './amazon-ses.ts'
import { readMailgun } from './mailgun.ts'
import { readPostmark } from './postmark.ts'
import type { Verified } from './report.ts'
import { readResend } from './resend.ts'
import { readSendGrid } from './sendgrid.ts'

/**
 * Verifies a notification of a sender and translates it.
 * @param key what the vendor entered for the sender; empty for Postmark
 * @throws ProviderUnreachable when Amazon has to be asked and does not answer
 */
export async function readReport(
  { now, readFromSns }: Ports<'now' | 'readFromSns'>,
  sender: MailSender,
  key: string,
  incoming: Incoming,
): Promise<Verified> {
  switch (sender) {
    case 'postmark':
      return readPostmark(incoming)
    case 'sendgrid':
      return readSendGrid(incoming, key)
    case 'mailgun':
      return readMailgun(incoming, key)
    case 'amazon_ses':
      return readAmazonSes(incoming, key, readFromSns)
    case 'resend':
      return readResend(incoming, key, now())
  }
}
