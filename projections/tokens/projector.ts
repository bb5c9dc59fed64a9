import { evolveRecorded, type Recorded } from '../../src/domain/recorded.ts'
import { type Token, tokens } from '../../src/domain/tokens/token.ts'
import { applyToDocuments, type DocumentModel } from '../document.ts'
import type { Projector } from '../projector.ts'

/** A token and the member who created it; null when an operator did. */
export type OwnedToken = Extract<Token, { tokenId: string }> & { memberId: string | null }

type TokenState = Extract<Token, { status: 'absent' }> | OwnedToken

const evolveToken = evolveRecorded(tokens)

/** The member is the actor of the first event: they created the token or approved its device authorization. */
function evolve(state: TokenState, recorded: Recorded): TokenState {
  const token = evolveToken(state, recorded)
  if (token.status === 'absent') return token
  const memberId =
    state.status === 'absent' ? (/^member:(.+)$/.exec(recorded.metadata.actor)?.[1] ?? null) : state.memberId
  return { ...token, memberId }
}

const model: DocumentModel<TokenState> = {
  table: 'tokens',
  category: 'token',
  absent: { status: 'absent' },
  evolve: evolve,
  columns: (token) =>
    token.status === 'absent'
      ? {}
      : {
          token_hash: token.tokenHash,
          token_id: token.tokenId,
          tenant_id: token.tenantId,
          member_id: token.memberId,
          created_at: token.createdAt,
        },
}

export const tokensProjector: Projector = {
  name: 'tokens',
  tables: ['tokens'],
  ddl: `
    create table tokens (
      stream text primary key,
      revision int not null,
      state jsonb not null,
      token_hash text not null unique,
      token_id text not null unique,
      tenant_id text not null,
      member_id text,
      created_at timestamptz not null
    );
    create index tokens_of_tenant on tokens (tenant_id, created_at desc, token_id desc);
    create index tokens_of_member on tokens (member_id) where member_id is not null`,
  apply: (db, entries) => applyToDocuments(db, model, entries),
}
