import { readContents } from '../../projections/deliveries/content.ts'
import type { KnownDelivery } from '../domain/deliveries/delivery.ts'
import { type EventOfEnd, isOfEnd } from '../domain/deliveries/outbox.ts'
import type { LicenseEvent } from '../domain/licenses/events.ts'
import { endOf, graceUntilOf } from '../domain/licenses/grace.ts'
import type { IssuedLicense } from '../domain/licenses/license.ts'
import { statusAt } from '../domain/licenses/status.ts'
import type { EndMailFacts, EndNews } from '../domain/mails/end-mail.ts'
import { isSubscription } from '../domain/sales/payments.ts'
import { failedRenewalsOf, type KnownSale } from '../domain/sales/sale.ts'
import type { Ports } from '../ports.ts'
import { aboutLicense } from './about-license.ts'

type ThresholdReached = Extract<LicenseEvent, { type: 'UsageThresholdReached' }>

/**
 * What to tell the holder of a license of its end, of a failed renewal or of a threshold of a meter; undefined when there is nothing to tell any more: it
 * was renewed or stopped meanwhile, the person was erased, or a subscription goes on that renews it, or counting has begun anew.
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
  const event = content?.event
  if (!event || !(isOfEnd(event) || event.type === 'UsageThresholdReached'))
    throw new Error(`${licenseId} tells of no end at ${revision}`)
  const found = await aboutLicense(ports, license, baseUrl)
  const news = found && newsOf(event, license, found.sale, now)
  return news && { ...found.about, displayKey, news }
}

function newsOf(
  event: EventOfEnd | ThresholdReached,
  license: IssuedLicense,
  sale: KnownSale | undefined,
  now: string,
): EndNews | undefined {
  const status = statusAt(license, now)
  if (event.type === 'UsageThresholdReached') {
    const { meter, unit, percent, used, remaining, endsAt: resetsAt } = event.data
    const isOver = resetsAt !== null && resetsAt <= now
    return status === 'active' && !isOver
      ? { what: 'usage', meter, unit, percent, used, remaining, resetsAt }
      : undefined
  }
  if (event.type === 'LicenseRenewalFailed') {
    const failed = sale && failedRenewalsOf(sale).find(({ paymentId }) => paymentId === event.data.paymentId)
    return failed && status !== 'revoked' && status !== 'suspended'
      ? { what: 'renewalFailed', ...aheadOf(license, failed, now) }
      : undefined
  }
  const { expiresAt } = event.data
  const isAhead = event.type === 'LicenseExpiring'
  if (license.expiresAt !== expiresAt || (isAhead && sale && goesOn(sale))) return undefined
  if (isAhead ? status !== 'active' || now >= expiresAt : status !== 'expired' && status !== 'fallback')
    return undefined
  const what = isAhead ? 'expiring' : status === 'fallback' ? 'fellBack' : 'expired'
  return { what, expiresAt, graceUntil: graceUntilOf(license) }
}

/** Of what comes after a failed payment, what is still to come. */
function aheadOf(license: IssuedLicense, { nextAttemptAt }: { nextAttemptAt: string | null }, now: string) {
  const isToCome = (moment: string | null) => (moment !== null && moment > now ? moment : null)
  return { nextAttemptAt: isToCome(nextAttemptAt), worksUntil: isToCome(endOf(license)) }
}

/** Whether the license is paid for by a subscription that has not ended: its next payment renews it. */
const goesOn = (sale: KnownSale): boolean => isSubscription(sale) && sale.facts.ends.length === 0
