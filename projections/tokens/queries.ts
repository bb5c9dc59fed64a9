import type { Pool } from 'pg'
import type { Plan } from '../../src/domain/tenant/events.ts'
import type { Tenant } from '../../src/domain/tenant/tenant.ts'
import type { Token } from '../../src/domain/token/token.ts'
import { coalesce } from '../coalesce.ts'

export type KnownToken = {
  token: Extract<Token, { tokenId: string }>
  tenantStatus: Exclude<Tenant['status'], 'absent'>
  plan: Plan
  /** An event of the token or its tenant could not be read, so nobody knows whether it may still be used. */
  uncertain: boolean
}

/**
 * Finds tokens by hash, with what their tenant may do. Nothing is remembered between look-ups: a revoked token is
 * refused by the next request. Look-ups of one moment share a query.
 */
export function createTokenLookup(db: Pool): (tokenHash: string) => Promise<KnownToken | undefined> {
  return coalesce(async (hashes) => {
    const { rows } = await db.query<KnownToken & { token_hash: string }>({
      name: 'find-tokens',
      text: `select t.token_hash, t.state as token, n.status as "tenantStatus", n.plan,
               exists (select from parked p where p.stream in (t.stream, n.stream)) as uncertain
             from tokens t join tenants n using (tenant_id)
             where t.token_hash = any($1)`,
      values: [[...new Set(hashes)]],
    })
    const found = new Map(rows.map(({ token_hash, ...known }) => [token_hash, known]))
    return hashes.map((hash) => found.get(hash))
  })
}
