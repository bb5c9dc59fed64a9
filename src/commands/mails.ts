import { findMail } from '../../projections/mails.ts'
import { findMembers } from '../../projections/members.ts'
import type { PresentProduct } from '../../projections/products/queries.ts'
import type { Allowance } from '../access/attempts.ts'
import { audits } from '../domain/audit/audit.ts'
import type { MailSettings } from '../domain/mails/events.ts'
import type { MailKind } from '../domain/mails/kinds.ts'
import { mails, type ProductMail } from '../domain/mails/mail.ts'
import type { PortalLanguage } from '../domain/portal/languages.ts'
import { Refusal } from '../domain/refusal.ts'
import { auditKey, productKey } from '../domain/streams.ts'
import { noStream } from '../ledger/execute.ts'
import type { Sending } from '../mail/mailer.ts'
import type { Ports } from '../ports.ts'
import { emailOf } from './members/members.ts'
import { causeOf, momentOf, type Origin } from './origin.ts'
import { requireLanguage } from './portal.ts'
import { writeSample } from './wordings.ts'

/** What a test mail uses. */
export type TestMailPorts = Ports<'attempts' | 'db' | 'execute' | 'mailing' | 'newId' | 'now' | 'subjects'>

/** Changes how a product's customers get their keys by mail. @throws Refusal `language_unknown` */
export async function changeMail(
  ports: Ports<'db' | 'execute' | 'now'>,
  place: { tenantId: string; productId: string },
  settings: MailSettings,
  origin: Origin,
): Promise<ProductMail> {
  const { tenantId, productId } = place
  await requireLanguage(ports, tenantId, settings.language)
  const at = momentOf(ports)
  const command = { type: 'ChangeMailSettings', tenantId, productId, settings, at } as const
  await ports.execute(mails, productKey(tenantId, productId), command, causeOf(origin, at))
  return findMail(ports.db, tenantId, productId)
}

/** A test mail that was sent, or how long its member has to wait first. */
export type TestMail =
  | { outcome: 'wait'; retryAfterSeconds: number }
  | {
      outcome: 'sent'
      /** Identifies the mail in the mailbox. */
      mailId: string
      to: string
      subject: string
      sending: Sending
      /** There is no mail server: the mail is a file on the host. */
      kept: boolean
    }

/** For each member: enough to try several texts, too few to flood a mailbox. */
const perMember: Allowance = { burst: 5, intervalMs: 60_000 }

/** Which mail of a product to send, and in which language the made-up customer reads; null where that is not known. */
export type TestOf = { product: PresentProduct; kind: MailKind; language: PortalLanguage | null }

/**
 * Sends a mail as the customers of a product get it, with made-up values, to a member's own address. It is sent once,
 * also where the product sends no mails, and is in no log of deliveries. The audit log names it first.
 * @param baseUrl the beginning of the URLs in the mail
 * @throws Refusal `test_mail_without_member` when there is no such member, or no address of theirs
 */
export async function sendTestMail(
  ports: TestMailPorts,
  { product, kind, language }: TestOf,
  memberId: string | null,
  origin: Origin,
  baseUrl: string,
): Promise<TestMail> {
  const { tenantId, productId } = product
  const email = await addressOf(ports, tenantId, memberId)
  if (memberId === null || email === null) throw new Refusal('test_mail_without_member')
  const attempt = await ports.attempts.take([{ bucket: `test mail ${memberId}`, allowance: perMember }])
  if (!attempt.allowed) return { outcome: 'wait', retryAfterSeconds: attempt.retryAfterSeconds }
  const { mailer, mailbox } = ports.mailing
  const written = await writeSample(ports, { kind, tenantId, product, language, email }, baseUrl)
  const mail = { ...written, to: { name: null, email }, subject: `Test: ${written.subject}` }
  const at = momentOf(ports)
  await recordTestMail(ports, { tenantId, productId, memberId, at }, origin)
  const mailId = ports.newId('whd').replace('_', '_test_')
  const sending = await mailer.send({ ...mail, tenantId, deliveryId: mailId, at })
  return { outcome: 'sent', mailId, to: email, subject: mail.subject, sending, kept: mailbox !== undefined }
}

async function addressOf(
  ports: Ports<'db' | 'subjects'>,
  tenantId: string,
  memberId: string | null,
): Promise<string | null> {
  if (memberId === null) return null
  const [known] = await findMembers(ports.db, [memberId])
  return known?.member.tenantId === tenantId ? emailOf(ports, known.member) : null
}

async function recordTestMail(
  ports: Ports<'execute' | 'newId'>,
  data: { tenantId: string; productId: string; memberId: string; at: string },
  origin: Origin,
): Promise<void> {
  const auditId = ports.newId('aud')
  await ports.execute(
    audits,
    auditKey(data.tenantId, auditId),
    { type: 'TestMailRequested', data: { auditId, ...data } },
    causeOf(origin, data.at),
    { loaded: noStream(audits) },
  )
}
