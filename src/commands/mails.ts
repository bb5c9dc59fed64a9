import { findMail } from '../../projections/mails.ts'
import type { MailSettings } from '../domain/mails/events.ts'
import { mails, type ProductMail } from '../domain/mails/mail.ts'
import { productKey } from '../domain/streams.ts'
import type { Ports } from '../ports.ts'
import { causeOf, momentOf, type Origin } from './origin.ts'

/** Changes how a product's customers get their keys by mail. */
export async function changeMail(
  ports: Ports<'db' | 'execute' | 'now'>,
  place: { tenantId: string; productId: string },
  settings: MailSettings,
  origin: Origin,
): Promise<ProductMail> {
  const { tenantId, productId } = place
  const at = momentOf(ports)
  const command = { type: 'ChangeMailSettings', tenantId, productId, settings, at } as const
  await ports.execute(mails, productKey(tenantId, productId), command, causeOf(origin, at))
  return findMail(ports.db, tenantId, productId)
}
