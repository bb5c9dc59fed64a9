import type { Recorded } from '../../src/domain/recorded.ts'
import { evolveWebhook, noWebhook, type Webhook } from '../../src/domain/webhooks/webhook.ts'
import type { Statement, Statements } from '../statements.ts'
import { defineTable } from '../table.ts'

/**
 * Each tenant's webhook endpoints as of the position up to which pending deliveries are known. The read model of webhooks cannot
 * serve for this: within a page it may be ahead of that position.
 */
export const deliveryEndpoints = defineTable(
  'delivery_endpoints',
  {
    tenantId: 'text not null',
    revision: 'int not null',
    // Of the last change: what was recorded before it is pending, or not, by the settings before.
    position: 'bigint not null',
    state: 'json not null',
  },
  { key: ['tenantId'], over: 'older row' },
)

export type EndpointAt = { revision: number; position: bigint; state: Webhook }

type Row = { tenant_id: string; revision: number; position: bigint; state: Webhook }

/** Loads the webhooks of tenants and of the tenants of licenses, by tenant id. */
export async function loadEndpoints(
  db: Statements,
  tenantIds: readonly string[],
  licenseIds: readonly string[],
): Promise<Map<string, EndpointAt>> {
  const { rows } = await db.query<Row>({
    name: 'delivery-endpoints-to-apply',
    text: `select * from delivery_endpoints where tenant_id = any($1)
           union all
           select e.* from licenses l join delivery_endpoints e using (tenant_id) where l.license_id = any($2)`,
    values: [tenantIds, licenseIds],
  })
  return new Map(rows.map(({ tenant_id, ...endpoint }) => [tenant_id, endpoint]))
}

/** @returns false for an event that was already applied */
export function applyToEndpoint(
  endpoints: Map<string, EndpointAt>,
  tenantId: string,
  { revision, position, event }: Recorded<'webhook'>,
): boolean {
  const before = endpoints.get(tenantId)
  if (before && before.revision >= revision) return false
  endpoints.set(tenantId, { revision, position, state: evolveWebhook(before?.state ?? noWebhook, event) })
  return true
}

export const writesOfEndpoints = (
  endpoints: ReadonlyMap<string, EndpointAt>,
  changed: ReadonlySet<string>,
): Statement[] =>
  deliveryEndpoints.write(
    [...changed].flatMap((tenantId) => {
      const endpoint = endpoints.get(tenantId)
      // JSON knows no bigint.
      return endpoint ? [{ tenantId, ...endpoint, position: String(endpoint.position) }] : []
    }),
  )
