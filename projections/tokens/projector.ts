import { folding } from '../../src/domain/recorded.ts'
import { absentToken, evolveToken, type Token } from '../../src/domain/token/token.ts'
import { type DocumentModel, foldDocuments } from '../document.ts'
import type { Projector } from '../projector.ts'

const tokens: DocumentModel<Token> = {
  table: 'tokens',
  category: 'token',
  absent: absentToken,
  fold: folding('token', evolveToken),
  columns: (token) =>
    token.status === 'absent'
      ? {}
      : {
          token_hash: token.tokenHash,
          token_id: token.tokenId,
          tenant_id: token.tenantId,
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
      created_at timestamptz not null
    );
    create index tokens_of_tenant on tokens (tenant_id, created_at desc, token_id desc)`,
  fold: (db, entries) => foldDocuments(db, tokens, entries),
}
