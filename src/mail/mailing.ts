import { join } from 'node:path'
import type { Correspondent } from '../domain/mails/template.ts'
import { createMailbox, type Mailbox } from './mailbox.ts'
import type { Mailer } from './mailer.ts'
import { createSmtpMailer } from './smtp.ts'

/** How this installation sends mails. */
export type Mailing = {
  mailer: Mailer
  /** The mailer itself, where no mail server takes the mails: there they can be read. */
  mailbox: Mailbox | undefined
  /** Who mails come from where a product names nobody. */
  from: Correspondent
}

/** @param settings without `smtpUrl`, mails are kept in the data directory */
export function createMailing(
  { smtpUrl, from }: { smtpUrl: string | undefined; from: Correspondent },
  dataDirectory: string,
): Mailing {
  if (smtpUrl !== undefined) return { mailer: createSmtpMailer(smtpUrl), mailbox: undefined, from }
  const mailbox = createMailbox(join(dataDirectory, 'mailbox'))
  return { mailer: mailbox, mailbox, from }
}
