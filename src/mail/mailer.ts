import type { WrittenMail } from '../domain/mails/template.ts'

/** A mail on its way: who it belongs to, and the delivery that it is, by which it is known again. */
export type OutgoingMail = WrittenMail & { tenantId: string; deliveryId: string; at: string }

/** What became of an attempt to send a mail. */
export type Sending =
  | { taken: true; status: number | null; answer: string }
  | { taken: false; problem: MailProblem; status: number | null; answer: string | null }

/** Why a mail was not taken: `refused` by a server that answered, or a connection that came to nothing. */
export type MailProblem =
  | 'refused'
  | 'timeout'
  | 'connection'
  | 'name'
  | 'tls'
  | 'authentication'
  | 'internal'

/** Takes mails to send: a mail server, or a mailbox on this host where none is set up. */
export type Mailer = {
  /** Never throws: what fails is said. A mail that was taken before is taken again under the same id. */
  send(mail: OutgoingMail): Promise<Sending>
  close(): Promise<void>
}
