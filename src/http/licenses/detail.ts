import { Readable } from 'node:stream'
import type { FastifyReply } from 'fastify'
import type { z } from 'zod'
import { findLicense, type LicenseEntry, listDevices } from '../../../projections/licenses/queries.ts'
import { momentOf } from '../../commands/origin.ts'
import type { Seat } from '../../domain/licenses/seats.ts'
import { Refusal } from '../../domain/refusal.ts'
import type { Evidence } from '../../evidence/evidence.ts'
import { licenseAsOf, seatsInOrder } from '../../history/as-of.ts'
import type { AsOf } from '../../history/moment.ts'
import type { Ports } from '../../ports.ts'
import { readTelemetry } from '../../usage/device-telemetry.ts'
import { unknownPerson } from '../../vault/subjects.ts'
import { deviceView, type licenseDetailOut, licenseView } from './license.ts'

type Detail = z.infer<typeof licenseDetailOut>

/**
 * A license with its devices, now or at a past moment. Telemetry is not recorded as events, so it is null in the past.
 * @throws Refusal `license_not_found`, `moment_in_the_future`
 */
export async function licenseDetail(
  ports: Ports<'db' | 'ledger' | 'now' | 'subjects'>,
  tenantId: string,
  licenseId: string,
  asOf: AsOf | undefined,
): Promise<Detail> {
  if (asOf) {
    const then = await licenseAsOf(ports, tenantId, licenseId, asOf)
    return viewOf(ports, then, seatsInOrder(then.license), new Map(), then.at)
  }
  const entry = await findLicense(ports.db, tenantId, licenseId)
  if (!entry) throw new Refusal('license_not_found')
  const devices = await listDevices(ports.db, licenseId)
  return viewOf(ports, entry, devices, await readTelemetry(ports.db, licenseId), momentOf(ports))
}

async function viewOf(
  ports: Ports<'subjects'>,
  entry: LicenseEntry,
  devices: readonly Seat[],
  telemetry: Awaited<ReturnType<typeof readTelemetry>>,
  at: string,
): Promise<Detail> {
  const { tenantId, holder } = entry.license
  const [person = unknownPerson] = await ports.subjects.openPeople(tenantId, [holder])
  return { ...licenseView(entry, person, at), devices: devices.map(deviceView(telemetry)) }
}

/** Streams the archive while it is written. */
export const sendArchive = (reply: FastifyReply, licenseId: string, { archive }: Evidence): FastifyReply =>
  reply
    .type('application/zip')
    .headers({
      'content-disposition': `attachment; filename="evidence-${licenseId}.zip"`,
    })
    .send(Readable.from(archive, { objectMode: false }))
