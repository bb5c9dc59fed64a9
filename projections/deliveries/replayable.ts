import type { Pool } from 'pg'
import type { KnownReplay } from '../../src/domain/replays/replay.ts'
import type { WebhookEventName } from '../../src/domain/webhooks/events.ts'
import { isOrdered } from './due.ts'

/** What a replay looks for. */
export type ReplayRange = Pick<KnownReplay, 'tenantId' | 'endpointId' | 'from' | 'to' | 'only'> & {
  events: readonly WebhookEventName[]
}

/** An event to deliver again. */
export type ReplayableEvent = {
  licenseId: string
  licenseRevision: number
  event: WebhookEventName
  at: string
}

/**
 * The public events `p` of a range with the delivery `d` to the endpoint, if there is one. An event whose delivery is
 * not scheduled yet, or is on its way, needs no replay. One that this replay itself has made due again is found again,
 * so that a step that is repeated after a crash finds the same.
 */
const replayable = `
  from public_events p
    left join deliveries d on d.license_id = p.license_id and d.license_revision = p.license_revision
      and d.channel = 'webhook' and d.endpoint_id = $2
  where p.tenant_id = $1 and p.at >= $3 and p.at < $4 and p.event = any($5)
    and case
      when d.delivery_id is null then $6 = 'all' and not exists (
        select from owed_deliveries o
        where o.license_id = p.license_id and o.license_revision = p.license_revision
          and o.channel = 'webhook' and o.endpoint_id = $2
      )
      else d.replay_id = $7 or d.status = 'abandoned' or ($6 = 'all' and d.status = 'delivered')
    end`

const rangeOf = ({ tenantId, endpointId, from, to, events, only }: ReplayRange, replayId: string) => [
  tenantId,
  endpointId,
  from,
  to,
  events,
  only,
  replayId,
]

/** Counts what a replay would find now. */
export async function countReplayable(db: Pool, range: ReplayRange): Promise<number> {
  const { rows } = await db.query<{ count: number }>({
    name: 'count-replayable',
    text: `select count(*)::int as count ${replayable}`,
    values: rangeOf(range, ''),
  })
  return rows[0]?.count ?? 0
}

/**
 * Lists what a replay finds next, in the order of the log.
 * @param after a position in the log; undefined for the beginning
 */
export async function listReplayable(
  db: Pool,
  range: ReplayRange,
  replayId: string,
  { after, most }: { after: bigint | undefined; most: number },
): Promise<ReplayableEvent[]> {
  const { rows } = await db.query<ReplayableEvent>({
    name: 'list-replayable',
    text: `select p.license_id as "licenseId", p.license_revision as "licenseRevision", p.event, p.at
           ${replayable} and p.position > $8
           order by p.position limit $9`,
    values: [...rangeOf(range, replayId), after ?? -1n, most],
  })
  return rows
}

/** How many deliveries to an endpoint are pending and wait for no other, counted up to a limit. */
export async function countPendingOf(
  db: Pool,
  { tenantId, endpointId }: { tenantId: string; endpointId: string },
  most: number,
): Promise<number> {
  const { rows } = await db.query<{ count: number }>({
    name: 'count-pending-beside-replay',
    text: `select count(*)::int as count
           from (select $1::text as tenant_id, $2::text as endpoint_id) r, lateral (
             select 1 from deliveries d
             where d.channel = 'webhook' and d.tenant_id = r.tenant_id and d.endpoint_id = r.endpoint_id
               and not d.waits and d.next_attempt_at is not null
             union all
             select 1 from deliveries d
             where d.channel = 'webhook' and d.tenant_id = r.tenant_id and d.endpoint_id = r.endpoint_id
               and d.waits and d.next_attempt_at is not null and not ${isOrdered('r')}
             limit $3
           ) d`,
    values: [tenantId, endpointId, most],
  })
  return rows[0]?.count ?? 0
}
