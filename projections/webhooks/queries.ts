import type { Pool } from 'pg'
import type { Webhook, WebhookEndpoint } from '../../src/domain/webhook/webhook.ts'

/** Where a tenant's license events go now; null when nowhere. */
export async function findWebhook(db: Pool, tenantId: string): Promise<WebhookEndpoint | null> {
  const { rows } = await db.query<{ state: Webhook }>({
    name: 'find-webhook',
    text: 'select state from webhooks where tenant_id = $1',
    values: [tenantId],
  })
  return rows[0]?.state.endpoint ?? null
}
