import type { Services } from '../commands/services.ts'
import { ConfigError } from '../config.ts'
import { absentLicense, evolveLicense, type License, statusAt } from '../domain/license/license.ts'
import { licenseStream } from '../ledger/streams.ts'
import { LedgerUnavailable } from '../ledger/unavailable.ts'
import { CommandRefused } from './exit.ts'

/**
 * A license as it was at a revision or a time, folded from the log by the same `evolve` that built the present.
 * @param moment a revision, or an ISO 8601 time; what was recorded at that very moment counts
 * @throws ConfigError when it is neither, CommandRefused when the license did not exist yet
 */
export async function licenseAt(services: Services, licenseId: string, moment: string) {
  const until = parseMoment(moment)
  let license: License = absentLicense
  let revision = -1
  let at = ''
  for await (const entry of services.ledger.readStream(licenseStream(licenseId))) {
    if (!entry.readable) throw new LedgerUnavailable(`the event at revision ${entry.revision} cannot be read`)
    if (until.isAfter(entry.revision, entry.metadata.at)) continue
    if (entry.category === 'license') license = evolveLicense(license, entry.event)
    revision = entry.revision
    at = entry.metadata.at
  }
  if (license.status === 'absent') throw new CommandRefused(`the license did not exist at ${moment}`)
  const { keyHash: _, holder: __, seats, status: ___, ...terms } = license
  const status = statusAt(license, until.time ?? at)
  return { revision, at, ...terms, status, devices: [...seats.values()] }
}

type Until = { time: string | undefined; isAfter(revision: number, at: string): boolean }

function parseMoment(moment: string): Until {
  if (/^\d{1,9}$/.test(moment)) {
    return { time: undefined, isAfter: (revision) => revision > Number(moment) }
  }
  const time = new Date(moment)
  if (Number.isNaN(time.getTime())) throw new ConfigError(`--at ${moment} is neither a revision nor a time`)
  return { time: time.toISOString(), isAfter: (_, at) => at > time.toISOString() }
}
