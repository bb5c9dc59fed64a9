import { join } from 'node:path'
import type { Correspondent } from '../domain/mails/template.ts'
import { createMailbox, type Mailbox } from './mailbox.ts'
import type { Mailer } from './mailer.ts'
import { createSmtpMailer } from './smtp.ts'

/** How this installation sends mails. */
export type Mailing = {
  mailer: Mailer
  /** The mailer itself if no mail server is set up, where the mails can be read; else undefined. */
  mailbox: Mailbox | undefined
  /** The default sender of mails. */
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
