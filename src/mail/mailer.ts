import type { WrittenMail } from '../domain/mails/template.ts'

/** A mail to send: its tenant, and the id of its delivery, which identifies it. */
export type OutgoingMail = WrittenMail & {
  tenantId: string
  deliveryId: string
  at: string
  attachments?: readonly Attachment[]
}

/** A JSON file with a mail. */
export type Attachment = { name: string; content: string }

/** The result of an attempt to send a mail. */
export type Sending =
  | { taken: true; status: number | null; answer: string }
  | { taken: false; problem: MailProblem; status: number | null; answer: string | null }

/** Why a mail was not accepted: `refused` by the server, or a failed connection. */
export type MailProblem =
  | 'refused'
  | 'timeout'
  | 'connection'
  | 'name'
  | 'tls'
  | 'authentication'
  | 'internal'

/** Accepts mails: a mail server, or a mailbox on this host if none is set up. */
export type Mailer = {
  /**
   * Never throws: the result says what failed. A mail that was accepted before is accepted again under the
   * same id.
   */
  send(mail: OutgoingMail): Promise<Sending>
  close(): Promise<void>
}
