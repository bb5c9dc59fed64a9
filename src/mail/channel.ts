import { readContents } from '../../projections/deliveries/content.ts'
import { findLicense } from '../../projections/licenses/queries.ts'
import { findMail } from '../../projections/mails.ts'
import { findOpenPortal } from '../../projections/portal.ts'
import { findSaleOfLicense } from '../../projections/sales/queries.ts'
import { findTenant } from '../../projections/tenants.ts'
import { openKeptKey } from '../commands/licenses/keys.ts'
import { isSendable } from '../commands/licenses/send-key.ts'
import { momentOf } from '../commands/origin.ts'
import type { AttemptResult, KnownDelivery } from '../domain/deliveries/delivery.ts'
import type { AttemptError } from '../domain/deliveries/events.ts'
import type { LicenseEvent } from '../domain/licenses/events.ts'
import { mailedKeyName, saleKeyName } from '../domain/licenses/keys.ts'
import type { IssuedLicense } from '../domain/licenses/license.ts'
import { writeEndMail } from '../domain/mails/end-mail.ts'
import type { MailSettings } from '../domain/mails/events.ts'
import { type MailFacts, writeMail } from '../domain/mails/template.ts'
import { portalUrl } from '../domain/portal/portal.ts'
import { findKeyType } from '../domain/products/product.ts'
import { licenseStream } from '../domain/streams.ts'
import type { Ports } from '../ports.ts'
import type { DeliveryChannel } from '../webhooks/channel.ts'
import { endMailFactsOf } from './end-mail.ts'
import type { Attachment, MailProblem, Sending } from './mailer.ts'

/** What the mails of deliveries use. */
export type MailPorts = Ports<
  'db' | 'findProduct' | 'keptKeys' | 'keyHashing' | 'mailing' | 'now' | 'receipts' | 'secrets' | 'subjects'
>

const unwanted: AttemptResult = { outcome: 'unwanted' }

/**
 * Sends a customer the key of a sold license, or the key that its vendor asked to send, or tells them of the end of a license. Nothing is sent if the product
 * sends no mails, if the person has been erased, or if the key has been destroyed or replaced since.
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
      if (delivery.event === 'license.expiring' || delivery.event === 'license.expired')
        return sendEndMail(ports, { delivery, license, settings, baseUrl }, begin)
      const keyMail = await keyMailRequestOf(ports, delivery)
      const facts = await factsOf(ports, delivery, license, keyMail, baseUrl)
      if (!facts) return unwanted
      const { mailer, mailbox, from } = ports.mailing
      const attachments = settings.receipt ? await receiptOf(ports, licenseId) : []
      const written = { ...facts, receipt: attachments.length > 0 }
      const mail = writeMail(settings, written, from, keyMail ? 'asked' : 'sale')
      await begin()
      const sending = await mailer.send({
        ...mail,
        ...(attachments.length > 0 && { attachments }),
        tenantId,
        deliveryId,
        at: momentOf(ports),
      })
      // Erased while the mail was being sent: the erasure found no mail to remove yet.
      if (mailbox && !(await isReadable(ports, license))) await mailbox.remove(tenantId, deliveryId)
      const { licenseKey, customer } = written
      return resultOf(sending, [licenseKey, customer.email, customer.name])
    },
  }
}

type EndMail = {
  delivery: KnownDelivery
  license: IssuedLicense
  settings: MailSettings
  baseUrl: string
}

async function sendEndMail(
  ports: MailPorts,
  { delivery, license, settings, baseUrl }: EndMail,
  begin: () => Promise<void>,
): Promise<AttemptResult> {
  const { tenantId, deliveryId } = delivery
  const at = momentOf(ports)
  const facts = await endMailFactsOf(ports, delivery, license, baseUrl, at)
  if (!facts) return unwanted
  const { mailer, mailbox, from } = ports.mailing
  await begin()
  const sending = await mailer.send({ ...writeEndMail(settings, facts, from), tenantId, deliveryId, at })
  if (mailbox && !(await isReadable(ports, license))) await mailbox.remove(tenantId, deliveryId)
  return resultOf(sending, [facts.customer.email, facts.customer.name])
}

/** The proof that the license is in the signed log. A mail is not held back by a notary that does not run. */
async function receiptOf({ receipts }: Ports<'receipts'>, licenseId: string): Promise<Attachment[]> {
  const minted = { stream: licenseStream(licenseId), revision: 0 }
  const receipt = await receipts.waitFor(minted).catch(() => undefined)
  return receipt && receipt !== 'withheld'
    ? [{ name: `receipt-${licenseId}.json`, content: `${JSON.stringify(receipt)}\n` }]
    : []
}

async function isReadable(ports: Ports<'subjects'>, { tenantId, holder }: IssuedLicense): Promise<boolean> {
  const [person] = await ports.subjects.openPeople(tenantId, [holder])
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
  const { tenantId, licenseId } = delivery
  const licenseKey = await keyOf(ports, delivery, license, keyMail)
  // A license that was reminted since has another key, which the caller of the remint got.
  if (licenseKey === undefined) return undefined
  if (!(await ports.keyHashing.isOf(tenantId, licenseKey, license.keyHash))) return undefined
  const [person] = await ports.subjects.openPeople(tenantId, [license.holder])
  if (!person?.email) return undefined
  const [product, tenant, portal, sale, sentAgain] = await Promise.all([
    ports.findProduct(tenantId, license.productId),
    findTenant(ports.db, tenantId),
    findOpenPortal(ports.db, tenantId),
    findSaleOfLicense(ports.db, tenantId, licenseId),
    isSendable(ports, license),
  ])
  const { productId, keyTypeId, quantity, deviceLimit, expiresAt, startsWith, saleId } = license
  return {
    customer: { email: person.email, name: person.name },
    vendorName: tenant?.name ?? tenantId,
    productName: product?.name ?? productId,
    keyTypeName: (product && findKeyType(product, keyTypeId)?.name) ?? keyTypeId,
    licenseKey,
    quantity,
    deviceLimit,
    expiresAt,
    startsWith,
    saleId,
    language: keyMail?.language ?? sale?.language ?? null,
    sentAgain,
    portalUrl: portal ? portalUrl(baseUrl, tenantId) : null,
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
