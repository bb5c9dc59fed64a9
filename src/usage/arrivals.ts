import type { Pool } from 'pg'
import type { Provider } from '../domain/integrations/provider.ts'
import { isSlug } from '../domain/values.ts'

/** When notifications of a provider last arrived; null when none has. */
export type Arrivals = { verifiedAt: string | null; refusedAt: string | null }

/** Times are kept this exactly, so that many notifications at once write one row. */
const exactToMs = 2000

/** Records that a notification was verified. Test purchases are no notifications of a provider. */
export async function recordVerified(
  db: Pool,
  tenantId: string,
  provider: Provider,
  now: Date,
): Promise<void> {
  await db.query({
    name: 'note-verified-notification',
    text: `insert into usage.notification_arrivals as a (tenant_id, provider, verified_at) values ($1, $2, $3)
           on conflict (tenant_id, provider) do update set verified_at = excluded.verified_at
           where a.verified_at is null or a.verified_at < $4`,
    values: [tenantId, provider, now, new Date(now.getTime() - exactToMs)],
  })
}

/** Records that a notification for a connected provider could not be verified. */
export async function recordRefused(
  db: Pool,
  tenantId: string,
  provider: Provider,
  now: Date,
): Promise<void> {
  if (!isSlug(tenantId)) return
  await db.query({
    name: 'note-refused-notification',
    text: `insert into usage.notification_arrivals as a (tenant_id, provider, refused_at)
           select tenant_id, provider, $3 from integrations
           where tenant_id = $1 and provider = $2 and state->>'status' = 'connected'
           on conflict (tenant_id, provider) do update set refused_at = excluded.refused_at
           where a.refused_at is null or a.refused_at < $4`,
    values: [tenantId, provider, now, new Date(now.getTime() - exactToMs)],
  })
}

export async function readArrivals(db: Pool, tenantId: string, provider: Provider): Promise<Arrivals> {
  const { rows } = await db.query<Arrivals>({
    name: 'read-arrivals',
    text: `select verified_at as "verifiedAt", refused_at as "refusedAt" from usage.notification_arrivals
           where tenant_id = $1 and provider = $2`,
    values: [tenantId, provider],
  })
  return rows[0] ?? { verifiedAt: null, refusedAt: null }
}
