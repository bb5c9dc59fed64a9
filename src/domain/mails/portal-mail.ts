import { plainText } from '../plain-text.ts'
import type { PortalLanguage, Say } from '../portal/texts.ts'
import { asHtml, asText, type Part, paragraph } from './content.ts'
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
export function writePortalMail(
  facts: PortalMailFacts,
  { language, say }: { language: PortalLanguage; say: Say },
  sender: Correspondent,
): WrittenMail {
  const { to, supportEmail, url, minutes } = facts
  const vendor = plainText(facts.vendor)
  const subject = plainText(say('mailSubject', { vendor }))
  const label = plainText(say('linkButton'))
  const content = partsOf(say('mailText', { vendor, link: url, minutes }), { label, url })
  return {
    from: { name: vendor, email: sender.email },
    replyTo: supportEmail,
    to: { name: null, email: to },
    subject,
    text: asText(content),
    html: asHtml(language, subject, content),
  }
}

/** A vendor's own text may have the link within a sentence; a link on a line of its own becomes a button. */
const partsOf = (text: string, link: { label: string; url: string }): Part[] =>
  text
    .trim()
    .split(/\n\s*\n/)
    .map((block) => (block.trim() === link.url ? { kind: 'link', ...link } : paragraph(block)))
