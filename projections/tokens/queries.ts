import type { Pool } from 'pg'
import { coalesce } from '../../src/async/coalesce.ts'
import type { HeldRole } from '../../src/domain/members/roles.ts'
import type { Plan } from '../../src/domain/tenants/events.ts'
import type { Tenant } from '../../src/domain/tenants/tenant.ts'
import { heldRole, streamOfRole } from '../custom-roles.ts'
import type { OwnedToken } from './projector.ts'

export type KnownToken = {
  token: OwnedToken
  tenantStatus: Exclude<Tenant['status'], 'absent'>
  plan: Plan
  /** The role, as it is now, of the member who created the token; null after their removal, or when no member created it. */
  memberRole: HeldRole | null
  /** Of a reseller's token: whether the reseller is open. Null for a token of the vendor. */
  resellerStatus: 'open' | 'closed' | null
  /** The stream of the token, its tenant, its reseller, its member or their role is parked, so it is unknown whether the token is valid. */
  uncertain: boolean
}

/** Joins the current member `m` who created the token `t`. */
export const memberOfToken = `left join members m on m.member_id = t.member_id and m.status = 'present'`

/** Whether the stream of the token `t`, its tenant `n`, its member or the custom role of the member `m` is parked. */
export const uncertainToken = `exists (
  select from parked p where p.stream in (t.stream, n.stream, 'member-' || t.member_id, ${streamOfRole})
)`

/**
 * Finds tokens by hash, with their tenant's status and plan and their member's role. Concurrent lookups share one
 * query. Nothing is cached, so that a revoked token is refused on the next request.
 */
export function createTokenLookup(db: Pool): (tokenHash: string) => Promise<KnownToken | undefined> {
  return coalesce(async (hashes) => {
    const { rows } = await db.query<KnownToken & { token_hash: string }>({
      name: 'find-tokens',
      text: `select t.token_hash, t.state as token, n.status as "tenantStatus", n.plan,
               ${heldRole} as "memberRole", r.status as "resellerStatus",
               ${uncertainToken} or exists (select from parked p where p.stream = r.stream) as uncertain
             from tokens t join tenants n using (tenant_id) ${memberOfToken}
               left join resellers r on r.reseller_id = t.state->>'resellerId' and r.tenant_id = t.tenant_id
             where t.token_hash = any($1)`,
      values: [[...new Set(hashes)]],
    })
    const found = new Map(rows.map(({ token_hash, ...known }) => [token_hash, known]))
    return hashes.map((hash) => found.get(hash))
  })
}
