import { findLicenseOfAnyTenant } from '../../projections/licenses/queries.ts'
import { momentOf } from '../commands/origin.ts'
import { ConfigError } from '../config.ts'
import { statusAt } from '../domain/licenses/license.ts'
import { Refusal } from '../domain/refusal.ts'
import { licenseAsOf, seatsInOrder } from '../history/as-of.ts'
import type { AsOf } from '../history/moment.ts'
import type { Ports } from '../ports.ts'
import { CommandRefused } from '../terminal/exit-codes.ts'

/**
 * A license at a past revision or time, computed by the same `evolve` that computes the present.
 * @param moment a revision, or an ISO 8601 time; events recorded exactly then are included
 * @throws ConfigError when it is neither, CommandRefused when the license did not exist yet
 */
export async function licenseAt(services: Ports<'db' | 'ledger' | 'now'>, licenseId: string, moment: string) {
  const asOf = asOfTyped(moment, momentOf(services))
  const found = await findLicenseOfAnyTenant(services.db, licenseId)
  if (!found) throw new Refusal('license_not_found')
  const then = await licenseAsOf(services, found.license.tenantId, licenseId, asOf).catch(
    (error: unknown) => {
      if (!(error instanceof Refusal && error.code === 'license_not_found')) throw error
      throw new CommandRefused(`the license did not exist at ${moment}`)
    },
  )
  const { keyHash: _, holder: __, seats: ___, status: ____, ...terms } = then.license
  const at = then.deciding.at(-1)?.at ?? then.at
  const status = statusAt(then.license, then.at)
  return { revision: then.revision, at, ...terms, status, devices: seatsInOrder(then.license) }
}

/** Parses a revision or a time; a future time means now. @throws ConfigError for anything else */
export function asOfTyped(moment: string, now: string): AsOf {
  if (/^\d{1,9}$/.test(moment)) return { sequence: Number(moment) }
  const date = new Date(moment)
  if (Number.isNaN(date.getTime()))
    throw new ConfigError(`--at ${moment} is neither a revision nor an ISO 8601 time`)
  const time = date.toISOString()
  return { time: time < now ? time : now }
}
