import type { Pool } from 'pg'
import { coalesce } from '../src/async/coalesce.ts'
import type { WebhookEndpoint } from '../src/domain/webhooks/endpoint.ts'
import {
  findEndpoint,
  firstEndpoint,
  noWebhook,
  type Webhook,
  webhooks,
} from '../src/domain/webhooks/webhook.ts'
import { defineDocuments, evolvedBy, projectorOf } from './document.ts'

const documents = defineDocuments(evolvedBy(webhooks), {
  table: 'webhooks',
  begun: ({ tenantId, endpoints }) => (tenantId === undefined ? undefined : { tenantId, endpoints }),
  columns: { tenantId: 'text not null unique' },
  computed: {
    // The ids of the endpoints whose deliveries wait.
    paused: [
      'text[] not null',
      ({ endpoints }) =>
        endpoints.filter(({ pausedAt }) => pausedAt !== null).map(({ endpointId }) => endpointId),
    ],
    // Whether any endpoint wants to know of licenses that are about to expire.
    expiring: [
      'boolean not null',
      ({ endpoints }) => endpoints.some(({ events }) => events.includes('license.expiring')),
    ],
    // The ids of the endpoints that get the events of a license in order.
    ordered: [
      'text[] not null',
      ({ endpoints }) =>
        endpoints.filter(({ ordering }) => ordering === 'license').map(({ endpointId }) => endpointId),
    ],
  },
})

export const webhooksProjector = projectorOf(documents)

/** A tenant's webhook, and the revision of its stream; -1 when none was ever set. */
async function readWebhook(db: Pool, tenantId: string): Promise<{ webhook: Webhook; revision: number }> {
  const { rows } = await db.query<{ state: Webhook; revision: number }>({
    name: 'find-webhook',
    text: 'select state, revision from webhooks where tenant_id = $1',
    values: [tenantId],
  })
  const [row] = rows
  return { webhook: row?.state ?? noWebhook, revision: row?.revision ?? -1 }
}

/** A tenant's first endpoint, null without one, and the revision of its stream; -1 when none was ever set. */
export async function findWebhook(
  db: Pool,
  tenantId: string,
): Promise<{ endpoint: WebhookEndpoint | null; revision: number }> {
  const { webhook, revision } = await readWebhook(db, tenantId)
  return { endpoint: firstEndpoint(webhook), revision }
}

/** A tenant's endpoints: the first one, then the others in the order in which they were added. */
export async function listEndpoints(db: Pool, tenantId: string): Promise<readonly WebhookEndpoint[]> {
  return (await readWebhook(db, tenantId)).webhook.endpoints
}

/** One of a tenant's endpoints, and the revision of the stream of all of them. */
export async function findWebhookEndpoint(
  db: Pool,
  tenantId: string,
  endpointId: string,
): Promise<{ endpoint: WebhookEndpoint | undefined; revision: number }> {
  const { webhook, revision } = await readWebhook(db, tenantId)
  return { endpoint: findEndpoint(webhook, endpointId), revision }
}

export type EndpointOf = (tenantId: string, endpointId: string) => Promise<WebhookEndpoint | null>

/** Finds endpoints of any tenant, for the dispatcher. Concurrent lookups share one query. */
export function createEndpointLookup(db: Pool): EndpointOf {
  const find = coalesce<string, Webhook>(async (tenantIds) => {
    const { rows } = await db.query<{ tenant_id: string; state: Webhook }>({
      name: 'endpoint-lookup',
      text: 'select tenant_id, state from webhooks where tenant_id = any($1)',
      values: [[...new Set(tenantIds)]],
    })
    const webhooks = new Map(rows.map(({ tenant_id, state }) => [tenant_id, state]))
    return tenantIds.map((tenantId) => webhooks.get(tenantId) ?? noWebhook)
  })
  return async (tenantId, endpointId) => findEndpoint(await find(tenantId), endpointId) ?? null
}
