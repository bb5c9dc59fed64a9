import type { Pool } from 'pg'
import { type Keyset, type PageOf, pageOf } from '../page.ts'
import type { OwnedToken } from './projector.ts'
import { memberOfToken } from './queries.ts'

/**
 * A token with the moment when it was last used, as far as that has been written down, and whether it ended because the
 * member who made it is one no more.
 */
export type ListedToken = { token: OwnedToken; lastUsedAt: string | null; endedWithMember: boolean }

const endedWithMember = 't.member_id is not null and m.member_id is null'

const listed = `
  select t.state as token, u.last_used_at as "lastUsedAt", ${endedWithMember} as "endedWithMember"
  from tokens t left join usage.token_use u using (token_id) ${memberOfToken}`

/** Newest first, tokens of one moment by id; `live` leaves out those that can no longer be used. */
export async function listTokens(
  db: Pool,
  tenantId: string,
  filter: { live: boolean; now: string },
  { after, limit }: Keyset,
): Promise<PageOf<ListedToken>> {
  const { rows } = await db.query<ListedToken>(
    `${listed}
     where t.tenant_id = $1
       and (not $2::boolean or (t.state->>'status' = 'live' and not (${endedWithMember})
         and (t.state->>'expiresAt' is null or (t.state->>'expiresAt')::timestamptz > $3)))
       and ($4::timestamptz is null or (t.created_at, t.token_id) < ($4, $5))
     order by t.created_at desc, t.token_id desc limit $6`,
    [tenantId, filter.live, filter.now, after?.createdAt ?? null, after?.id ?? null, limit + 1],
  )
  return pageOf(rows, limit, ({ token }) => ({ createdAt: token.createdAt, id: token.tokenId }))
}

/** Undefined for a token that is not there and for another tenant's alike. */
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

/** The names of the tokens that end when a member is removed. */
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

/** What the tenant calls its tokens, among the ids asked for. */
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
