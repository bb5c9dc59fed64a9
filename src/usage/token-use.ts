import type { Pool } from 'pg'
import { createDelayed } from '../async/delayed.ts'

/**
 * Keeps the time of each token's last use in memory and writes it every few seconds, so a request needs no
 * write. If the process is killed, unwritten times are lost, and a token may look unused for a few seconds
 * longer.
 */
export type TokenUse = {
  record(tokenId: string): void
  /** Records that an app called with the tenant's SDK key. */
  recordSdkKey(tenantId: string): void
  /** Writes pending times; on failure they are kept for the next time. */
  flush(): Promise<void>
  stop(): Promise<void>
}

/** The id under which the use of a tenant's SDK key is kept, whichever key it has at the time. */
const sdkKeyOf = (tenantId: string): string => `sdk-key.${tenantId}`

/** Whether an app ever called with an SDK key of the tenant. Calls of the last seconds may be missing. */
export async function hasUsedSdkKey(db: Pool, tenantId: string): Promise<boolean> {
  const { rowCount } = await db.query({
    name: 'has-used-sdk-key',
    text: 'select from usage.token_use where token_id = $1',
    values: [sdkKeyOf(tenantId)],
  })
  return rowCount === 1
}

export function createTokenUse(
  db: Pool,
  now: () => Date,
  onFailure: (error: unknown) => void,
  flushEveryMs = 5000,
): TokenUse {
  let pending = new Map<string, Date>()

  async function write(): Promise<void> {
    const batch = pending
    if (batch.size === 0) return
    pending = new Map()
    try {
      await db.query({
        name: 'note-token-use',
        text: `insert into usage.token_use as u (token_id, last_used_at)
               select * from unnest($1::text[], $2::timestamptz[])
               on conflict (token_id) do update set last_used_at = excluded.last_used_at
               where u.last_used_at < excluded.last_used_at`,
        values: [[...batch.keys()], [...batch.values()]],
      })
    } catch (error) {
      onFailure(error)
      pending = new Map([...batch, ...pending])
      writing.ask()
    }
  }

  const writing = createDelayed(flushEveryMs, write)

  return {
    record(tokenId) {
      pending.set(tokenId, now())
      writing.ask()
    },
    recordSdkKey(tenantId) {
      pending.set(sdkKeyOf(tenantId), now())
      writing.ask()
    },
    flush: writing.now,
    async stop() {
      writing.cancel()
      await writing.now()
    },
  }
}
