import { readContents } from '../../projections/deliveries/content.ts'
import { wasJustMailed } from '../../projections/deliveries/queries.ts'
import { findSeats } from '../../projections/licenses/seats.ts'
import { findPerson } from '../../projections/people.ts'
import type { KnownDelivery } from '../domain/deliveries/delivery.ts'
import { type EventOfEnd, isOfEnd } from '../domain/deliveries/outbox.ts'
import type { LicenseEvent } from '../domain/licenses/events.ts'
import { mostSeats } from '../domain/licenses/floating.ts'
import { endOf, graceUntilOf } from '../domain/licenses/grace.ts'
import type { IssuedLicense } from '../domain/licenses/license.ts'
import { seatsTaken } from '../domain/licenses/relay-seats.ts'
import { givesSeats, statusAt } from '../domain/licenses/status.ts'
import type { News, NewsMailFacts } from '../domain/mails/news-mail.ts'
import { isSubscription } from '../domain/sales/payments.ts'
import { failedRenewalsOf, type KnownSale } from '../domain/sales/sale.ts'
import type { Ports } from '../ports.ts'
import type { SealedPerson } from '../vault/subjects.ts'
import { aboutLicense } from './about-license.ts'

/** What to tell, and whom. */
type ToTell = { facts: NewsMailFacts; recipient: SealedPerson | null }

/** The events of a license that are told, beside those about its end. */
type Told = Extract<
  LicenseEvent,
  { type: 'DeviceActivated' | 'SeatAssigned' | 'SeatsExhausted' | 'UsageThresholdReached' }
>

const isTold = (event: LicenseEvent): event is Told | EventOfEnd =>
  isOfEnd(event) ||
  event.type === 'DeviceActivated' ||
  event.type === 'SeatAssigned' ||
  event.type === 'SeatsExhausted' ||
  event.type === 'UsageThresholdReached'

/**
 * What to tell the holder of a license, or a person who has a seat of it; undefined when there is nothing to tell any more: it was
 * renewed or stopped meanwhile, the person was erased, a subscription goes on that renews it, counting has begun anew, the seat is free
 * again, or the same was just told.
 * @param now the moment at which it is sent
 */
export async function newsMailFactsOf(
  ports: Ports<'db' | 'findProduct' | 'subjects'>,
  delivery: KnownDelivery,
  license: IssuedLicense,
  baseUrl: string,
  now: string,
): Promise<ToTell | undefined> {
  const { licenseId, tenantId } = license
  const { licenseRevision: revision } = delivery
  const [content] = await readContents(ports.db, [{ licenseId, revision }])
  const event = content?.event
  if (!event || !isTold(event)) throw new Error(`${licenseId} tells of nothing at ${revision}`)
  if (event.type === 'SeatAssigned') return seatGiven(ports, license, event.data.personId, baseUrl)
  const found = await aboutLicense(ports, license, license.holder, baseUrl)
  if (!found) return undefined
  const about = { ...found.about, displayKey: license.displayKey }
  if (event.type === 'DeviceActivated' || event.type === 'SeatsExhausted') {
    const entry = await findSeats(ports.db, { tenantId, licenseId }, deviceIn(event))
    const news = entry && newsOfSeats(event, entry.license, now)
    const isNews = news && !(await wasJustMailed(ports.db, delivery))
    return isNews ? { facts: { ...about, news }, recipient: license.holder } : undefined
  }
  const news = newsOf(event, license, found.sale, now)
  return news && { facts: { ...about, news }, recipient: license.holder }
}

/** @returns undefined for a person who has left or has no seat any more, and where no portal shows the key */
async function seatGiven(
  ports: Ports<'db' | 'findProduct' | 'subjects'>,
  license: IssuedLicense,
  personId: string,
  baseUrl: string,
): Promise<ToTell | undefined> {
  const { tenantId, customerId, named } = license
  const seat = named?.people[personId]
  if (customerId === null || !seat) return undefined
  const person = await findPerson(ports.db, tenantId, customerId, personId)
  const found = person && (await aboutLicense(ports, license, person, baseUrl))
  if (!found || found.about.portalUrl === null) return undefined
  const { displayKey } = seat
  const facts = {
    ...found.about,
    language: person.language,
    displayKey,
    news: { what: 'seatGiven' } as const,
  }
  return { facts, recipient: person }
}

type OfSeats = Extract<Told, { type: 'DeviceActivated' | 'SeatsExhausted' }>

const deviceIn = (event: OfSeats): string[] => (event.type === 'DeviceActivated' ? [event.data.deviceId] : [])

/** Nothing is told of a device that was removed meanwhile, nor of seats one of which is free again. */
function newsOfSeats(event: OfSeats, license: IssuedLicense, now: string): News | undefined {
  if (!givesSeats(statusAt(license, now))) return undefined
  if (event.type === 'SeatsExhausted') return { what: 'seatsFull', seats: event.data.seats }
  const { deviceId, name: device, at: addedAt, mail } = event.data
  if (license.seats.get(deviceId)?.status !== 'active') return undefined
  if (mail === 'new_device') return { what: 'newDevice', device, addedAt }
  const [seats, most] = [seatsTaken(license, now), mostSeats(license)]
  return most !== null && seats >= most ? { what: 'seatsFull', seats } : undefined
}

function newsOf(
  event: EventOfEnd | Extract<Told, { type: 'UsageThresholdReached' }>,
  license: IssuedLicense,
  sale: KnownSale | undefined,
  now: string,
): News | undefined {
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
