import { plainText } from '../plain-text.ts'
import type { PortalLanguage } from '../portal/languages.ts'
import type { PortalTextKey, Say } from '../portal/texts.ts'
import { type Part, paragraph } from './content.ts'
import { bodyOf, type MailLook, plainLook } from './rendering.ts'
import type { Correspondent, WrittenMail } from './template.ts'

type MailFacts = {
  to: string
  vendor: string
  supportEmail: string | null
  url: string
}

/** The contents of a mail with a link to the portal. */
export type PortalMailFacts = MailFacts & { minutes: number }

/** The contents of an invitation to an organization; its name is null once the person behind it was erased. */
export type InvitationFacts = MailFacts & { organization: string | null }

type Writing = { language: PortalLanguage; say: Say; look?: MailLook }

/**
 * Writes the mail with a customer's link, in the language of the page on which they asked for it.
 * @param sender the installation's address
 */
export function writePortalMail(
  facts: PortalMailFacts,
  writing: Writing,
  sender: Correspondent,
): WrittenMail {
  const { minutes } = facts
  return written(facts, writing, sender, {
    subject: 'mailSubject',
    text: 'mailText',
    button: 'linkButton',
    values: { minutes },
  })
}

/**
 * Writes the mail that invites a person to an organization. Its link leads to the page where they sign in with this address: it holds no
 * secret.
 * @param sender the installation's address
 */
export function writeInvitation(
  facts: InvitationFacts,
  writing: Writing,
  sender: Correspondent,
): WrittenMail {
  const organization = plainText(facts.organization ?? facts.vendor)
  return written(facts, writing, sender, {
    subject: 'inviteSubject',
    text: 'inviteText',
    button: 'linkButton',
    values: { organization, email: facts.to },
  })
}

type Texts = {
  subject: PortalTextKey
  text: PortalTextKey
  button: PortalTextKey
  values: Record<string, string | number>
}

function written(
  { to, supportEmail, url, vendor: name }: MailFacts,
  { language, say, look = plainLook }: Writing,
  sender: Correspondent,
  texts: Texts,
): WrittenMail {
  const vendor = plainText(name)
  const subject = plainText(say(texts.subject, { vendor, ...texts.values }))
  const label = plainText(say(texts.button))
  const content = partsOf(say(texts.text, { vendor, link: url, ...texts.values }), { label, url })
  return {
    from: { name: vendor, email: sender.email },
    replyTo: supportEmail ?? look.replyTo,
    to: { name: null, email: to },
    ...bodyOf(subject, content, { language, vendorName: vendor, look }),
  }
}

/** A vendor's own text may have the link within a sentence; a link on a line of its own becomes a button. */
const partsOf = (text: string, link: { label: string; url: string }): Part[] =>
  text
    .trim()
    .split(/\n\s*\n/)
    .map((block) => (block.trim() === link.url ? { kind: 'link', ...link } : paragraph(block)))
