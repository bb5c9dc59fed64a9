import { readContents } from '../../projections/deliveries/content.ts'
import { findLicense } from '../../projections/licenses/queries.ts'
import { findMail } from '../../projections/mails.ts'
import { findWording } from '../../projections/wordings.ts'
import { openKeptKey } from '../commands/licenses/keys.ts'
import { isSendable } from '../commands/licenses/send-key.ts'
import { momentOf } from '../commands/origin.ts'
import type { AttemptResult, KnownDelivery } from '../domain/deliveries/delivery.ts'
import type { AttemptError } from '../domain/deliveries/events.ts'
import type { LicenseEvent } from '../domain/licenses/events.ts'
import { mailedKeyName, saleKeyName } from '../domain/licenses/keys.ts'
import type { IssuedLicense } from '../domain/licenses/license.ts'
import type { MailSettings } from '../domain/mails/events.ts'
import { kindOfNews, writeNewsMail } from '../domain/mails/news-mail.ts'
import { type MailFacts, type WrittenMail, writeMail } from '../domain/mails/template.ts'
import { licenseStream } from '../domain/streams.ts'
import type { Ports } from '../ports.ts'
import type { SealedPerson } from '../vault/subjects.ts'
import type { DeliveryChannel } from '../webhooks/channel.ts'
import { aboutLicense } from './about-license.ts'
import type { Attachment, MailProblem, Sending } from './mailer.ts'
import { newsMailFactsOf } from './news-mail.ts'

/** What the mails of deliveries use. */
export type MailPorts = Ports<
  'db' | 'findProduct' | 'keptKeys' | 'keyHashing' | 'mailing' | 'now' | 'receipts' | 'secrets' | 'subjects'
>

const unwanted: AttemptResult = { outcome: 'unwanted' }

/**
 * Sends a customer the key of a sold license, or the key that its vendor asked to send, or tells them, or a person who has a seat, what
 * is new. Nothing is sent if the product sends no mails, if the person has been erased, or if the key has been destroyed or replaced since.
 * @param baseUrl the beginning of the URLs in the mails
 */
export function createMailChannel(ports: MailPorts, baseUrl: string): DeliveryChannel {
  return {
    async deliver(delivery, begin) {
      const { tenantId, deliveryId, licenseId } = delivery
      const license = (await findLicense(ports.db, tenantId, licenseId))?.license
      if (!license) throw new Error(`the license ${licenseId} is not known yet`)
      const { settings } = await findMail(ports.db, tenantId, license.productId)
      if (!settings.enabled) return unwanted
      const write = isKeyMail(delivery) ? keyMailOf : newsMailOf
      const written = await write(ports, { delivery, license, settings, baseUrl })
      if (!written) return unwanted
      const { mailer, mailbox } = ports.mailing
      await begin()
      const sending = await mailer.send({ ...written.mail, tenantId, deliveryId, at: momentOf(ports) })
      // Erased while the mail was being sent: the erasure found no mail to remove yet.
      if (mailbox && !(await isReadable(ports, tenantId, written.recipient)))
        await mailbox.remove(tenantId, deliveryId)
      return resultOf(sending, written.secrets)
    },
  }
}

type ToWrite = {
  delivery: KnownDelivery
  license: IssuedLicense
  settings: MailSettings
  baseUrl: string
}

/** `secrets`: what an excerpt of the mail server's answer must not contain. */
type Written = {
  mail: WrittenMail & { attachments?: Attachment[] }
  recipient: SealedPerson | null
  secrets: readonly (string | null)[]
}

const isKeyMail = ({ event }: KnownDelivery): boolean =>
  event === 'license.created' || event === 'license.key_mail'

/** @returns undefined when there is nothing to tell any more */
async function newsMailOf(
  ports: MailPorts,
  { delivery, license, settings, baseUrl }: ToWrite,
): Promise<Written | undefined> {
  const toTell = await newsMailFactsOf(ports, delivery, license, baseUrl, momentOf(ports))
  if (!toTell) return undefined
  const { facts, recipient } = toTell
  const { email, name } = facts.customer
  const wording = await findWording(ports.db, license.tenantId, {
    kind: kindOfNews[facts.news.what],
    productId: license.productId,
    languages: [facts.language, settings.language],
  })
  return {
    mail: writeNewsMail(settings, facts, ports.mailing.from, wording),
    recipient,
    secrets: [email, name],
  }
}

/** @returns undefined when the key must not be sent any more */
async function keyMailOf(
  ports: MailPorts,
  { delivery, license, settings, baseUrl }: ToWrite,
): Promise<Written | undefined> {
  const keyMail = await keyMailRequestOf(ports, delivery)
  const facts = await factsOf(ports, delivery, license, keyMail, baseUrl)
  if (!facts) return undefined
  const attachments = settings.receipt ? await receiptOf(ports, license.licenseId) : []
  const { licenseKey, customer } = facts
  const complete = { ...facts, receipt: attachments.length > 0 }
  const wording = await findWording(ports.db, license.tenantId, {
    kind: keyMail ? 'key_on_request' : 'key',
    productId: license.productId,
    languages: [facts.language, settings.language],
  })
  const mail = writeMail(settings, complete, ports.mailing.from, keyMail ? 'asked' : 'sale', wording)
  return {
    mail: { ...mail, ...(attachments.length > 0 && { attachments }) },
    recipient: license.holder,
    secrets: [licenseKey, customer.email, customer.name],
  }
}

/** The proof that the license is in the signed log. A mail is not held back by a notary that does not run. */
async function receiptOf({ receipts }: Ports<'receipts'>, licenseId: string): Promise<Attachment[]> {
  const minted = { stream: licenseStream(licenseId), revision: 0 }
  const receipt = await receipts.waitFor(minted).catch(() => undefined)
  return receipt && receipt !== 'withheld'
    ? [{ name: `receipt-${licenseId}.json`, content: `${JSON.stringify(receipt)}\n` }]
    : []
}

async function isReadable(
  ports: Ports<'subjects'>,
  tenantId: string,
  recipient: SealedPerson | null,
): Promise<boolean> {
  const [person] = await ports.subjects.openPeople(tenantId, [recipient])
  return (person?.email ?? null) !== null
}

type KeyMailRequest = Extract<LicenseEvent, { type: 'KeyMailAsked' }>['data']

/** The event that asked for the mail; undefined for the mail of a sale. */
async function keyMailRequestOf(
  { db }: Ports<'db'>,
  { event, licenseId, licenseRevision: revision }: KnownDelivery,
): Promise<KeyMailRequest | undefined> {
  if (event !== 'license.key_mail') return undefined
  const [content] = await readContents(db, [{ licenseId, revision }])
  if (content?.event.type !== 'KeyMailAsked') throw new Error(`${licenseId} asks for no mail at ${revision}`)
  return content.event.data
}

async function factsOf(
  ports: MailPorts,
  delivery: KnownDelivery,
  license: IssuedLicense,
  keyMail: KeyMailRequest | undefined,
  baseUrl: string,
): Promise<Omit<MailFacts, 'receipt'> | undefined> {
  const { tenantId } = delivery
  const licenseKey = await keyOf(ports, delivery, license, keyMail)
  // A license that was reminted since has another key, which the caller of the remint got.
  if (licenseKey === undefined) return undefined
  if (!(await ports.keyHashing.isOf(tenantId, licenseKey, license.keyHash))) return undefined
  const [found, sentAgain] = await Promise.all([
    aboutLicense(ports, license, license.holder, baseUrl),
    isSendable(ports, license),
  ])
  if (!found) return undefined
  const { about } = found
  const { quantity, deviceLimit, expiresAt, startsWith, saleId } = license
  return {
    ...about,
    licenseKey,
    quantity,
    deviceLimit,
    expiresAt,
    startsWith,
    saleId,
    language: keyMail?.language ?? about.language,
    sentAgain,
  }
}

/**
 * The key that a delivery carries, while the vault keeps it. A mail that was accepted is not sent again with a key that is
 * kept for longer: that takes another request.
 */
async function keyOf(
  ports: Ports<'db' | 'findProduct' | 'keptKeys' | 'mailing' | 'secrets'>,
  { attempts }: KnownDelivery,
  license: IssuedLicense,
  keyMail: KeyMailRequest | undefined,
): Promise<string | undefined> {
  const { tenantId, licenseId, keyHash } = license
  if (!keyMail) return ports.secrets.open(tenantId, saleKeyName(licenseId))
  // The mail of a key that was replaced must not send the key that replaced it.
  if (keyMail.keyHash !== keyHash) return undefined
  const toBeMailed = await ports.secrets.open(tenantId, mailedKeyName(licenseId, keyHash))
  if (toBeMailed !== undefined || attempts.some(({ error }) => error === null)) return toBeMailed
  // The mailbox of an installation without a mail server shows its mails, and a kept key is never shown.
  if (ports.mailing.mailbox) return undefined
  const product = await ports.findProduct(tenantId, license.productId)
  return product && openKeptKey(ports, product, license)
}

/** Each problem as the log of deliveries names it. */
export const attemptErrors: Record<MailProblem, AttemptError> = {
  refused: 'mail_refused',
  authentication: 'mail_refused',
  timeout: 'timeout',
  connection: 'connection_refused',
  name: 'name_not_found',
  tls: 'tls',
  internal: 'internal',
}

/** @param secrets what an excerpt of the answer must not contain */
function resultOf(sending: Sending, secrets: readonly (string | null)[]): AttemptResult {
  const { status } = sending
  const excerpt = sending.answer && withoutAll(sending.answer, secrets)
  return sending.taken
    ? { outcome: 'delivered', status, excerpt }
    : { outcome: 'failed', error: attemptErrors[sending.problem], status, excerpt }
}

/** Mail servers repeat addresses, and their recorded answers are kept forever. */
function withoutAll(text: string, secrets: readonly (string | null)[]): string {
  return secrets.reduce<string>((rest, secret) => (secret ? rest.replaceAll(secret, '…') : rest), text)
}
