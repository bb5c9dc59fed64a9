import { findMail } from '../../projections/mails/queries.ts'
import type { MailSettings } from '../domain/mail/events.ts'
import { decideMail, evolveMail, type ProductMail, usualMail } from '../domain/mail/mail.ts'
import { folding } from '../domain/recorded.ts'
import { loadFromLog } from '../ledger/load.ts'
import { mailStream } from '../ledger/streams.ts'
import { causeOf, momentOf, type Origin, type Services } from './services.ts'

/** Says how a product's customers are sent their keys from now on. */
export async function changeMail(
  services: Services,
  place: { tenantId: string; productId: string },
  settings: MailSettings,
  origin: Origin,
): Promise<ProductMail> {
  const { tenantId, productId } = place
  const stream = mailStream(tenantId, productId)
  const at = momentOf(services)
  await services.handle<ProductMail, 'mail'>({
    stream,
    load: () => loadFromLog(services.ledger, stream, usualMail, folding('mail', evolveMail)),
    decide: (mail) => decideMail(mail, { type: 'ChangeMailSettings', tenantId, productId, settings, at }),
    cause: causeOf(origin, at),
  })
  return findMail(services.db, tenantId, productId)
}
