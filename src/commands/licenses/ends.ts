import { listEndpoints } from '../../../projections/webhooks.ts'
import { type License, licenses } from '../../domain/licenses/license.ts'
import { usualNoticeDays } from '../../domain/licenses/notices.ts'
import { Refusal } from '../../domain/refusal.ts'
import type { Ports } from '../../ports.ts'
import { causeOf, momentOf, type Origin } from '../origin.ts'
import { stateOf } from './licenses.ts'

type EndPorts = Ports<'execute' | 'findLicenseById' | 'findProduct' | 'now'>

/**
 * Records the end of a license's paid period, if it has ended. A license that was renewed or revoked
 * meanwhile, or whose end was recorded by another process, is left unchanged.
 * @param isNews whether its holder may be told of it
 * @throws Refusal `license_not_found`
 */
export async function endPaidPeriod(
  ports: EndPorts,
  { licenseId, isNews }: { licenseId: string; isNews: boolean },
  origin: Origin,
): Promise<void> {
  const at = momentOf(ports)
  await executeOn(ports, licenseId, origin, at, async (license) => {
    const mail = isNews && (await daysOf(ports, license)) !== undefined
    return { type: 'EndPaidPeriod', mail, at } as const
  })
}

/**
 * Records the notice of a license's end that is due, if one is. The days are those of the product, or the usual ones where an
 * endpoint of the tenant wants to know.
 * @throws Refusal `license_not_found`
 */
export async function noticeExpiry(
  ports: EndPorts & Ports<'db'>,
  { tenantId, licenseId }: { tenantId: string; licenseId: string },
  origin: Origin,
): Promise<void> {
  const at = momentOf(ports)
  await executeOn(ports, licenseId, origin, at, async (license) => {
    const own = await daysOf(ports, license)
    if (own) return { type: 'NoticeExpiry', days: own, mail: true, at } as const
    const endpoints = await listEndpoints(ports.db, tenantId)
    const isWanted = endpoints.some(({ events }) => events.includes('license.expiring'))
    return isWanted ? ({ type: 'NoticeExpiry', days: usualNoticeDays, mail: false, at } as const) : undefined
  })
}

/** When the customers of the license's product are told of its end; undefined if they are not. */
async function daysOf({ findProduct }: EndPorts, license: License): Promise<readonly number[] | undefined> {
  if (license.status === 'absent') return undefined
  const product = await findProduct(license.tenantId, license.productId)
  return product?.settings.expiringNotice?.days
}

type Command = Extract<Parameters<typeof licenses.decide>[1], { type: 'EndPaidPeriod' | 'NoticeExpiry' }>

async function executeOn(
  ports: EndPorts,
  licenseId: string,
  origin: Origin,
  at: string,
  command: (license: License) => Promise<Command | undefined>,
): Promise<void> {
  const read = async () => {
    const found = await ports.findLicenseById(licenseId)
    if (!found) throw new Refusal('license_not_found')
    return stateOf(found)
  }
  await ports.execute(licenses, licenseId, command, causeOf(origin, at), { read })
}
