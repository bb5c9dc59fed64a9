import type { Pool } from 'pg'
import type { Webhook, WebhookEndpoint } from '../../src/domain/webhook/webhook.ts'

/** Where a tenant's license events go now, null when nowhere; the revision tells whether that has changed. */
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
