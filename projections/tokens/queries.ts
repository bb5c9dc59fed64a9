import type { Pool } from 'pg'
import { coalesce } from '../../src/async/coalesce.ts'
import type { Role } from '../../src/domain/members/roles.ts'
import type { Plan } from '../../src/domain/tenants/events.ts'
import type { Tenant } from '../../src/domain/tenants/tenant.ts'
import type { OwnedToken } from './projector.ts'

export type KnownToken = {
  token: OwnedToken
  tenantStatus: Exclude<Tenant['status'], 'absent'>
  plan: Plan
  /** What the member who made the token is now: null once removed, and for a token that no member made. */
  memberRole: Role | null
  /** An event of the token, its tenant or its member could not be read, so nobody knows whether it may still be used. */
  uncertain: boolean
}

/** The member who made the token `t`, as `m`. */
export const memberOfToken = `left join members m on m.member_id = t.member_id and m.status = 'present'`

/** Whether the token `t` or what decides about it, its tenant `n` and its member, cannot be read. */
export const uncertainToken = `exists (
  select from parked p where p.stream in (t.stream, n.stream, 'member-' || t.member_id)
)`

/**
 * Finds tokens by hash, with what their tenant and their member may do. Nothing is remembered between look-ups: a revoked token is
 * refused by the next request. Look-ups of one moment share a query.
 */
export function createTokenLookup(db: Pool): (tokenHash: string) => Promise<KnownToken | undefined> {
  return coalesce(async (hashes) => {
    const { rows } = await db.query<KnownToken & { token_hash: string }>({
      name: 'find-tokens',
      text: `select t.token_hash, t.state as token, n.status as "tenantStatus", n.plan,
               m.role as "memberRole", ${uncertainToken} as uncertain
             from tokens t join tenants n using (tenant_id) ${memberOfToken}
             where t.token_hash = any($1)`,
      values: [[...new Set(hashes)]],
    })
    const found = new Map(rows.map(({ token_hash, ...known }) => [token_hash, known]))
    return hashes.map((hash) => found.get(hash))
  })
}
