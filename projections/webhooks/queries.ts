import type { Pool } from 'pg'
import { coalesce } from '../../src/async/coalesce.ts'
import type { Webhook, WebhookEndpoint } from '../../src/domain/webhooks/webhook.ts'

/** A tenant's webhook endpoint, null without one, and the revision of its stream; -1 when none was ever set. */
export async function findWebhook(
  db: Pool,
  tenantId: string,
): Promise<{ endpoint: WebhookEndpoint | null; revision: number }> {
  const { rows } = await db.query<{ state: Webhook; revision: number }>({
    name: 'find-webhook',
    text: 'select state, revision from webhooks where tenant_id = $1',
    values: [tenantId],
  })
  const [row] = rows
  return { endpoint: row?.state.endpoint ?? null, revision: row?.revision ?? -1 }
}

/** Finds webhook endpoints by tenant, for the dispatcher. Concurrent lookups share one query. */
export function createEndpointLookup(db: Pool): (tenantId: string) => Promise<WebhookEndpoint | null> {
  return coalesce(async (tenantIds) => {
    const { rows } = await db.query<{ tenant_id: string; state: Webhook }>({
      name: 'endpoint-lookup',
      text: 'select tenant_id, state from webhooks where tenant_id = any($1)',
      values: [[...new Set(tenantIds)]],
    })
    const endpoints = new Map(rows.map(({ tenant_id, state }) => [tenant_id, state.endpoint]))
    return tenantIds.map((tenantId) => endpoints.get(tenantId) ?? null)
  })
}
