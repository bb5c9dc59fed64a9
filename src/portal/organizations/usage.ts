import { findLicense, type LicenseEntry, listLicenses } from '../../../projections/licenses/queries.ts'
import { findMetering } from '../../../projections/meters/licenses.ts'
import { metersOfLicense } from '../../commands/meters/meters.ts'
import { momentOf } from '../../commands/origin.ts'
import { csvLine } from '../../http/csv.ts'
import { lastSeenOfLicenses } from '../../usage/device-telemetry.ts'
import { readStandings, type StandingMeter } from '../../usage/standing-meters.ts'
import type { PortalContext } from '../context.ts'
import { type ShownLicense, shownLicense } from '../licenses/shown.ts'

type Ports = PortalContext['ports']

/** What is used of a license: its seats are in it, and its meters are as they stand. */
export type UsedLicense = { license: ShownLicense; seenAt: string | null; meters: StandingMeter[] }

type UsagePage = { licenses: UsedLicense[]; next: string | null }

/** Each license takes queries of its own for its meters, so a page has few. */
const perPage = 25

/**
 * What is used of the licenses of an organization, newest license first.
 * @param after the id of the last license of the page before; the first page for one that the organization does not have
 */
export async function usagePage(
  ports: Ports,
  { tenantId, customerId }: { tenantId: string; customerId: string },
  after: string | undefined,
): Promise<UsagePage> {
  const { db } = ports
  const last = after === undefined ? undefined : (await findLicense(db, tenantId, after))?.license
  const start =
    last?.customerId === customerId ? { createdAt: last.createdAt, id: last.licenseId } : undefined
  const keyset = { after: start, limit: perPage }
  const { items, next } = await listLicenses(db, tenantId, { customerId }, momentOf(ports), keyset)
  const seen = await lastSeenOfLicenses(
    db,
    items.map(({ license }) => license.licenseId),
  )
  const licenses = await Promise.all(
    items.map(async (entry) => ({
      license: await shownLicense(ports, entry),
      seenAt: seen.get(entry.license.licenseId) ?? null,
      meters: await standingsOf(ports, entry),
    })),
  )
  return { licenses, next: next?.id ?? null }
}

async function standingsOf(ports: Ports, { license }: LicenseEntry): Promise<StandingMeter[]> {
  const metering = await findMetering(ports.db, license.tenantId, license.licenseId)
  return readStandings(ports.db, metering ? metersOfLicense(metering) : [], momentOf(ports))
}

const columns = [
  ...['licenseId', 'product', 'plan', 'key', 'status', 'expiresAt', 'seatsUsed', 'seats', 'lastSeenAt'],
  ...['meter', 'shared', 'unit', 'used', 'remaining', 'overage', 'resetsAt'],
]

/** The usage of all licenses as a list, a line for each meter, or for a license without any. A page is read when the one before it was sent. */
export async function* usageCsv(
  ports: Ports,
  place: { tenantId: string; customerId: string },
): AsyncIterable<string> {
  yield csvLine(columns)
  let after: string | undefined
  do {
    const { licenses, next } = await usagePage(ports, place, after)
    yield licenses.flatMap(linesOf).join('')
    after = next ?? undefined
  } while (after !== undefined)
}

function linesOf({ license, seenAt, meters }: UsedLicense): string[] {
  const { licenseId, productName, planName, displayKey, status, expiresAt, seatsUsed, deviceLimit } = license
  const cells = [
    licenseId,
    productName,
    planName,
    displayKey,
    status,
    expiresAt,
    seatsUsed,
    deviceLimit,
    seenAt,
  ]
  if (meters.length === 0) return [csvLine([...cells, ...columns.slice(cells.length).map(() => null)])]
  return meters.map(({ meter, customerId, unit, used, remaining, overage, resetsAt }) => {
    const amounts = [used, remaining, overage].map((decimal) => ({ decimal }))
    return csvLine([...cells, meter, customerId !== null, unit, ...amounts, resetsAt])
  })
}
