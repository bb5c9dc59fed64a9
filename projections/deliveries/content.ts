import type { Pool } from 'pg'
import { LicenseEvent, LicenseTerms } from '../../src/domain/license/events.ts'

/** What a delivery tells of: an event of a license, the license as it was issued, and the device that it is about. */
export type DeliveryContent = {
  event: LicenseEvent
  at: string
  issued: LicenseTerms
  deviceName: string | null
  /** The payment session of the sale that the license was issued for. */
  sessionId: string | null
}

/** All of it has happened and stays as it is, so every try of a delivery says the same. */
export async function readContent(
  db: Pool,
  licenseId: string,
  revision: number,
): Promise<DeliveryContent | undefined> {
  const { rows } = await db.query<{
    type: string
    data: unknown
    at: string
    issued: unknown
    device_name: string | null
    session_id: string | null
  }>({
    name: 'delivery-content',
    text: `select e.type, e.data, e.at, i.data as issued, d.name as device_name,
             s.state ->> 'sessionId' as session_id
           from license_history e
             join license_history i on i.license_id = e.license_id and i.revision = 0
             left join sales s on s.license_id = e.license_id
             left join devices d on d.license_id = e.license_id and d.device_id = e.data ->> 'deviceId'
           where e.license_id = $1 and e.revision = $2`,
    values: [licenseId, revision],
  })
  const [row] = rows
  if (!row) return undefined
  return {
    event: LicenseEvent.parse({ type: row.type, data: row.data }),
    at: row.at,
    issued: LicenseTerms.parse(row.issued),
    deviceName: row.device_name,
    sessionId: row.session_id,
  }
}
