import { readContents } from '../../projections/deliveries/content.ts'
import type { KnownDelivery } from '../domain/deliveries/delivery.ts'
import { isOfEnd } from '../domain/deliveries/outbox.ts'
import { graceUntilOf } from '../domain/licenses/grace.ts'
import type { IssuedLicense } from '../domain/licenses/license.ts'
import { statusAt } from '../domain/licenses/status.ts'
import type { EndMailFacts } from '../domain/mails/end-mail.ts'
import { isSubscription } from '../domain/sales/payments.ts'
import type { KnownSale } from '../domain/sales/sale.ts'
import type { Ports } from '../ports.ts'
import { aboutLicense } from './about-license.ts'

/**
 * What to tell the holder of a license of its end; undefined when there is nothing to tell any more: it was renewed or stopped
 * meanwhile, the person was erased, or a subscription goes on that renews it.
 * @param now the moment at which it is sent
 */
export async function endMailFactsOf(
  ports: Ports<'db' | 'findProduct' | 'subjects'>,
  { licenseRevision: revision }: KnownDelivery,
  license: IssuedLicense,
  baseUrl: string,
  now: string,
): Promise<EndMailFacts | undefined> {
  const { licenseId, displayKey } = license
  const [content] = await readContents(ports.db, [{ licenseId, revision }])
  if (!content || !isOfEnd(content.event)) throw new Error(`${licenseId} tells of no end at ${revision}`)
  const { type, data } = content.event
  if (license.expiresAt !== data.expiresAt) return undefined
  const status = statusAt(license, now)
  const isAhead = type === 'LicenseExpiring'
  if (isAhead ? status !== 'active' || now >= data.expiresAt : status !== 'expired' && status !== 'fallback')
    return undefined
  const found = await aboutLicense(ports, license, baseUrl)
  if (!found || (isAhead && found.sale && goesOn(found.sale))) return undefined
  return {
    what: isAhead ? 'expiring' : status === 'fallback' ? 'fellBack' : 'expired',
    ...found.about,
    displayKey,
    expiresAt: data.expiresAt,
    graceUntil: graceUntilOf(license),
  }
}

/** Whether the license is paid for by a subscription that has not ended: its next payment renews it. */
const goesOn = (sale: KnownSale): boolean => isSubscription(sale) && sale.facts.ends.length === 0
