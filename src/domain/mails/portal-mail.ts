import { plainText } from '../plain-text.ts'
import type { Say } from '../portal/texts.ts'
import type { Correspondent, WrittenMail } from './template.ts'

/** The contents of a mail with a link to the portal. */
export type PortalMailFacts = {
  to: string
  vendor: string
  supportEmail: string | null
  url: string
  minutes: number
}

/**
 * Writes the mail with a customer's link, in the language of the page on which they asked for it.
 * @param sender the installation's address
 */
export function writePortalMail(facts: PortalMailFacts, say: Say, sender: Correspondent): WrittenMail {
  const { to, supportEmail, url, minutes } = facts
  const vendor = plainText(facts.vendor)
  return {
    from: { name: vendor, email: sender.email },
    replyTo: supportEmail,
    to: { name: null, email: to },
    subject: plainText(say('mailSubject', { vendor })),
    text: `${say('mailText', { vendor, link: url, minutes })}\n`,
    html: null,
  }
}
