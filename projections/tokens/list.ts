import type { Pool } from 'pg'
import { type Keyset, orderOf, type PageOf, pageOf } from '../page.ts'
import type { OwnedToken } from './projector.ts'
import { memberOfToken } from './queries.ts'

/**
 * A token with the time of its last use, and whether it ended because its member was removed. Uses are written in
 * batches, so `lastUsedAt` may lag.
 */
export type ListedToken = { token: OwnedToken; lastUsedAt: string | null; endedWithMember: boolean }

/** Why a token no longer works; `active` while it does. */
export type TokenStatus = 'active' | 'revoked' | 'member_removed' | 'expired'

/** @param now a time in the format of the log */
export function tokenStatusAt({ token, endedWithMember }: ListedToken, now: string): TokenStatus {
  if (token.status === 'revoked') return 'revoked'
  if (endedWithMember) return 'member_removed'
  return token.expiresAt !== null && token.expiresAt <= now ? 'expired' : 'active'
}

const endedWithMember = 't.member_id is not null and m.member_id is null'

const listed = `
  select t.state as token, u.last_used_at as "lastUsedAt", ${endedWithMember} as "endedWithMember"
  from tokens t left join usage.token_use u using (token_id) ${memberOfToken}`

/** A page of a tenant's tokens. @param filter `live` leaves out tokens that can no longer be used */
export async function listTokens(
  db: Pool,
  tenantId: string,
  filter: { live: boolean; now: string },
  { after, limit, order }: Keyset,
): Promise<PageOf<ListedToken>> {
  const { by, past } = orderOf(order, 't.created_at', 't.token_id')
  const { rows } = await db.query<ListedToken>(
    `${listed}
     where t.tenant_id = $1
       and (not $2::boolean or (t.state->>'status' = 'live' and not (${endedWithMember})
         and (t.state->>'expiresAt' is null or (t.state->>'expiresAt')::timestamptz > $3)))
       and ($4::timestamptz is null or ${past('$4', '$5')})
     order by ${by} limit $6`,
    [tenantId, filter.live, filter.now, after?.createdAt ?? null, after?.id ?? null, limit + 1],
  )
  return pageOf(rows, limit, ({ token }) => ({ createdAt: token.createdAt, id: token.tokenId }))
}

/** Undefined for an unknown token and for one of another tenant. */
export async function findListedToken(
  db: Pool,
  tenantId: string,
  tokenId: string,
): Promise<ListedToken | undefined> {
  const { rows } = await db.query<ListedToken>(`${listed} where t.tenant_id = $1 and t.token_id = $2`, [
    tenantId,
    tokenId,
  ])
  return rows[0]
}

/** A reseller's tokens that can be used while the reseller is open, oldest first. */
export async function listTokensOfReseller(
  db: Pool,
  tenantId: string,
  resellerId: string,
  now: string,
): Promise<ListedToken[]> {
  const { rows } = await db.query<ListedToken>(
    `${listed} where t.tenant_id = $1 and t.state->>'resellerId' = $2 order by t.created_at, t.token_id`,
    [tenantId, resellerId],
  )
  return rows.filter((one) => tokenStatusAt(one, now) === 'active')
}

/** The names of a member's live tokens, which end when the member is removed. */
export async function listTokenNamesOfMember(db: Pool, memberId: string, now: string): Promise<string[]> {
  const { rows } = await db.query<{ name: string }>(
    `select state->>'name' as name from tokens
     where member_id = $1 and state->>'status' = 'live'
       and (state->>'expiresAt' is null or (state->>'expiresAt')::timestamptz > $2)
     order by created_at, token_id`,
    [memberId, now],
  )
  return rows.map(({ name }) => name)
}

/** The names of a tenant's tokens, by id. */
export async function findTokenNames(
  db: Pool,
  tenantId: string,
  tokenIds: readonly string[],
): Promise<{ tokenId: string; name: string }[]> {
  const { rows } = await db.query<{ tokenId: string; name: string }>(
    `select token_id as "tokenId", state->>'name' as name from tokens where tenant_id = $1 and token_id = any($2)`,
    [tenantId, tokenIds],
  )
  return rows
}
