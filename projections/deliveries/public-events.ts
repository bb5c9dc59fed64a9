import type { Pool } from 'pg'
import type { WebhookEventName } from '../../src/domain/webhooks/events.ts'
import { defineTable } from '../table.ts'

/**
 * Every license event with a public name, by its position in the log, also of tenants without a webhook. Position and
 * number stay the same after a rebuild.
 */
export const publicEvents = defineTable(
  'public_events',
  {
    tenantId: 'text not null',
    position: 'bigint not null',
    licenseId: 'text not null',
    licenseRevision: 'int not null',
    event: 'text not null',
    // 1, 2, 3… over the public events of the license.
    sequence: 'int not null',
    at: 'timestamptz not null',
  },
  {
    key: ['tenantId', 'position'],
    over: 'nothing',
    // In the order of the log times barely ever go back, so this index costs next to nothing to keep.
    indexes: { public_events_by_time: 'using brin (at)' },
  },
)

type PublicEvent = {
  position: bigint
  licenseId: string
  revision: number
  event: WebhookEventName
  sequence: number
  at: string
}

/**
 * Lists a tenant's public events after a position, oldest first; from the first one when it is undefined.
 * @param licenseId only of this license; of all when it is undefined
 */
export async function listPublicEvents(
  db: Pool,
  tenantId: string,
  { after, licenseId, most }: { after: bigint | undefined; licenseId?: string | undefined; most: number },
): Promise<PublicEvent[]> {
  if (licenseId !== undefined) return listOfLicense(db, tenantId, licenseId, after, most)
  const { rows } = await db.query<PublicEvent>({
    name: 'list-public-events',
    text: `select p.position, p.license_id as "licenseId", p.license_revision as revision, p.event, p.sequence, h.at
           from public_events p
             join license_history h on h.license_id = p.license_id and h.revision = p.license_revision
           where p.tenant_id = $1 and p.position > $2 order by p.position limit $3`,
    values: [tenantId, after ?? -1n, most],
  })
  return rows
}

/** From the history of the license, which is short, to its public events. */
async function listOfLicense(
  db: Pool,
  tenantId: string,
  licenseId: string,
  after: bigint | undefined,
  most: number,
): Promise<PublicEvent[]> {
  const { rows } = await db.query<PublicEvent>({
    name: 'list-public-events-of-license',
    text: `select p.position, p.license_id as "licenseId", p.license_revision as revision, p.event, p.sequence, h.at
           from license_history h
             join public_events p on p.tenant_id = $1 and p.position = h.position
           where h.license_id = $2 and h.position > $3 order by h.position limit $4`,
    values: [tenantId, licenseId, after ?? -1n, most],
  })
  return rows
}

/** The last public event of a tenant so far. */
export async function findLastPublicEvent(
  db: Pool,
  tenantId: string,
): Promise<Pick<PublicEvent, 'licenseId' | 'revision' | 'at'> | undefined> {
  const { rows } = await db.query<Pick<PublicEvent, 'licenseId' | 'revision' | 'at'>>({
    name: 'find-last-public-event',
    text: `select p.license_id as "licenseId", p.license_revision as revision, h.at
           from public_events p
             join license_history h on h.license_id = p.license_id and h.revision = p.license_revision
           where p.tenant_id = $1 order by p.position desc limit 1`,
    values: [tenantId],
  })
  return rows[0]
}

/**
 * Finds the position of a public event by its license and revision. After a copy of the log its position differs.
 * @param at the event's time: a log that was restored from a backup may have another event at this revision
 */
export async function findPublicEvent(
  db: Pool,
  tenantId: string,
  { licenseId, revision, at }: Pick<PublicEvent, 'licenseId' | 'revision' | 'at'>,
): Promise<bigint | undefined> {
  const { rows } = await db.query<{ position: bigint }>({
    name: 'find-public-event',
    text: `select p.position
           from license_history h join public_events p on p.tenant_id = $1 and p.position = h.position
           where h.license_id = $2 and h.revision = $3 and h.at = $4`,
    values: [tenantId, licenseId, revision, at],
  })
  return rows[0]?.position
}

/** Whether the tenant has a public event at this position with this time. */
export async function isPublicEvent(
  db: Pool,
  tenantId: string,
  { position, at }: Pick<PublicEvent, 'position' | 'at'>,
): Promise<boolean> {
  const { rowCount } = await db.query({
    name: 'is-public-event',
    text: `select from public_events p
             join license_history h on h.license_id = p.license_id and h.revision = p.license_revision
           where p.tenant_id = $1 and p.position = $2 and h.at = $3`,
    values: [tenantId, position, at],
  })
  return rowCount !== 0
}
