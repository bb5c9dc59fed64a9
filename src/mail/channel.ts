import { readContents } from '../../projections/deliveries/content.ts'
import { findLicense } from '../../projections/licenses/queries.ts'
import { findMail } from '../../projections/mails/queries.ts'
import { findTenant } from '../../projections/tenants/queries.ts'
import { openKeptKey } from '../commands/licenses/kept-key.ts'
import { momentOf } from '../commands/origin.ts'
import { keyHashOf } from '../credentials/license-key.ts'
import type { AttemptResult, KnownDelivery } from '../domain/deliveries/delivery.ts'
import type { AttemptError } from '../domain/deliveries/events.ts'
import type { IssuedLicense } from '../domain/licenses/license.ts'
import { mailedKeyName } from '../domain/licenses/mailed-key.ts'
import { type MailFacts, writeMail } from '../domain/mails/template.ts'
import { findKeyType } from '../domain/products/product.ts'
import { saleKeyName } from '../domain/sales/key.ts'
import { licenseStream } from '../domain/streams.ts'
import type { Ports } from '../ports.ts'
import type { DeliveryChannel } from '../webhooks/channel.ts'
import type { Attachment, MailProblem, Sending } from './mailer.ts'

const unwanted: AttemptResult = { outcome: 'unwanted' }

/**
 * Sends a customer the key of a sold license, or the key that its vendor asked to send. Nothing is sent if the product
 * sends no mails, if the person has been erased, or if the key has been destroyed or replaced since.
 */
export function createMailChannel(
  services: Ports<
    'db' | 'findProduct' | 'keptKeys' | 'mailing' | 'now' | 'receipts' | 'secrets' | 'subjects'
  >,
): DeliveryChannel {
  return {
    async deliver(delivery) {
      const { tenantId, deliveryId, licenseId } = delivery
      const license = (await findLicense(services.db, tenantId, licenseId))?.license
      if (!license) throw new Error(`the license ${licenseId} is not known yet`)
      const { settings } = await findMail(services.db, tenantId, license.productId)
      if (!settings.enabled) return unwanted
      const facts = await factsOf(services, delivery, license)
      if (!facts) return unwanted
      const { mailer, mailbox, from } = services.mailing
      const occasion = delivery.event === 'license.key_mail' ? 'asked' : 'sale'
      const mail = writeMail(settings, facts, from, occasion)
      const attachments = await receiptOf(services, licenseId)
      const sending = await mailer.send({
        ...mail,
        ...(attachments.length > 0 && { attachments }),
        tenantId,
        deliveryId,
        at: momentOf(services),
      })
      // Erased while the mail was being sent: the erasure found no mail to remove yet.
      if (mailbox && !(await isReadable(services, license))) await mailbox.remove(tenantId, deliveryId)
      return resultOf(sending, facts)
    },
  }
}

/** The proof that the license is in the signed log. A mail is not held back by a notary that does not run. */
async function receiptOf({ receipts }: Ports<'receipts'>, licenseId: string): Promise<Attachment[]> {
  const minted = { stream: licenseStream(licenseId), revision: 0 }
  const receipt = await receipts.waitFor(minted).catch(() => undefined)
  return receipt ? [{ name: `receipt-${licenseId}.json`, content: `${JSON.stringify(receipt)}\n` }] : []
}

async function isReadable(
  services: Ports<'subjects'>,
  { tenantId, holder }: IssuedLicense,
): Promise<boolean> {
  const [person] = await services.subjects.openPeople(tenantId, [holder])
  return (person?.email ?? null) !== null
}

async function factsOf(
  services: Ports<'db' | 'findProduct' | 'keptKeys' | 'mailing' | 'secrets' | 'subjects'>,
  delivery: KnownDelivery,
  license: IssuedLicense,
): Promise<MailFacts | undefined> {
  const { tenantId } = delivery
  const licenseKey = await keyOf(services, delivery, license)
  // A license that was reminted since has another key, which the caller of the remint got.
  if (licenseKey === undefined || keyHashOf(licenseKey) !== license.keyHash) return undefined
  const [person] = await services.subjects.openPeople(tenantId, [license.holder])
  if (!person?.email) return undefined
  const product = await services.findProduct(tenantId, license.productId)
  const tenant = await findTenant(services.db, tenantId)
  const { productId, keyTypeId, quantity, deviceLimit, expiresAt, saleId } = license
  return {
    customer: { email: person.email, name: person.name },
    vendorName: tenant?.name ?? tenantId,
    productName: product?.name ?? productId,
    keyTypeName: (product && findKeyType(product, keyTypeId)?.name) ?? keyTypeId,
    licenseKey,
    quantity,
    deviceLimit,
    expiresAt,
    saleId: saleId ?? '',
  }
}

/**
 * The key that a delivery carries, while the vault keeps it. A mail that was accepted is not sent again with a key that is
 * kept for longer: that takes another request.
 */
async function keyOf(
  services: Ports<'db' | 'findProduct' | 'keptKeys' | 'mailing' | 'secrets'>,
  { event, licenseRevision: revision, attempts }: KnownDelivery,
  license: IssuedLicense,
): Promise<string | undefined> {
  const { tenantId, licenseId, keyHash } = license
  if (event !== 'license.key_mail') return services.secrets.open(tenantId, saleKeyName(licenseId))
  const [content] = await readContents(services.db, [{ licenseId, revision }])
  if (content?.event.type !== 'KeyMailAsked') throw new Error(`${licenseId} asks for no mail at ${revision}`)
  // The mail of a key that was replaced must not send the key that replaced it.
  if (content.event.data.keyHash !== keyHash) return undefined
  const toBeMailed = await services.secrets.open(tenantId, mailedKeyName(licenseId, keyHash))
  if (toBeMailed !== undefined || attempts.some(({ error }) => error === null)) return toBeMailed
  // The mailbox of an installation without a mail server shows its mails, and a kept key is never shown.
  if (services.mailing.mailbox) return undefined
  const product = await services.findProduct(tenantId, license.productId)
  return product?.settings.keyRecovery ? openKeptKey(services, license) : undefined
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

function resultOf(sending: Sending, { customer, licenseKey }: MailFacts): AttemptResult {
  const { status } = sending
  const excerpt = sending.answer && withoutAll(sending.answer, [licenseKey, customer.email, customer.name])
  return sending.taken
    ? { outcome: 'delivered', status, excerpt }
    : { outcome: 'failed', error: attemptErrors[sending.problem], status, excerpt }
}

/** Mail servers repeat addresses, and their recorded answers are kept forever. */
function withoutAll(text: string, secrets: readonly (string | null)[]): string {
  return secrets.reduce<string>((rest, secret) => (secret ? rest.replaceAll(secret, '…') : rest), text)
}
