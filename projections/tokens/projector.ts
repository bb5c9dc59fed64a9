import { evolveRecorded, type Recorded } from '../../src/domain/recorded.ts'
import { type Token, tokens } from '../../src/domain/tokens/token.ts'
import { defineDocuments, projectorOf, type Source } from '../document.ts'

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

const source: Source<TokenState> = { category: 'token', absent: { status: 'absent' }, evolve }

const documents = defineDocuments(source, {
  table: 'tokens',
  begun: (token) => (token.status === 'absent' ? undefined : token),
  columns: {
    tokenHash: 'text not null unique',
    tokenId: 'text not null unique',
    tenantId: 'text not null',
    memberId: 'text',
    createdAt: 'timestamptz not null',
  },
  indexes: {
    tokens_of_tenant: '(tenant_id, created_at desc, token_id desc)',
    tokens_of_member: '(member_id) where member_id is not null',
  },
})

export const tokensProjector = projectorOf(documents)
