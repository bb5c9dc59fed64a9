import type { Pool } from 'pg'
import type { KnownDelivery } from '../../src/domain/deliveries/delivery.ts'

/** How the recent deliveries to an endpoint went. */
export type EndpointHealth = {
  delivered: number
  /** Pending deliveries with at least one failed attempt. */
  failing: number
  /** Pending deliveries without an attempt. */
  waiting: number
  abandoned: number
  /** The newest one, of any age; null without any. */
  last: KnownDelivery | null
}

export const noDeliveries: EndpointHealth = { delivered: 0, failing: 0, waiting: 0, abandoned: 0, last: null }

/**
 * Counts the deliveries to a tenant's endpoints, by the endpoint's id.
 * @param since counts those that were scheduled at or after this time
 */
export async function readEndpointHealth(
  db: Pool,
  tenantId: string,
  endpointIds: readonly string[],
  since: string,
): Promise<Map<string, EndpointHealth>> {
  const { rows } = await db.query<EndpointHealth & { endpoint_id: string }>({
    name: 'endpoint-health',
    text: `select e.endpoint_id, coalesce(c.delivered, 0) as delivered, coalesce(c.failing, 0) as failing,
             coalesce(c.waiting, 0) as waiting, coalesce(c.abandoned, 0) as abandoned, l.state as last
           from unnest($2::text[]) as e (endpoint_id)
             left join (
               select endpoint_id, count(*) filter (where status = 'delivered')::int as delivered,
                 count(*) filter (where status = 'pending' and tries > 0)::int as failing,
                 count(*) filter (where status = 'pending' and tries = 0)::int as waiting,
                 count(*) filter (where status = 'abandoned')::int as abandoned
               from deliveries
               where tenant_id = $1 and channel = 'webhook' and created_at >= $3
               group by endpoint_id
             ) c using (endpoint_id)
             left join lateral (
               select state from deliveries
               where tenant_id = $1 and channel = 'webhook' and endpoint_id = e.endpoint_id
               order by created_at desc, delivery_id desc limit 1
             ) l on true`,
    values: [tenantId, endpointIds, since],
  })
  return new Map(rows.map(({ endpoint_id, ...health }) => [endpoint_id, health]))
}
