import { evolveLogin, type Login, pendingLogin } from '../../src/domain/login/login.ts'
import { folding } from '../../src/domain/recorded.ts'
import { type DocumentModel, foldDocuments } from '../document.ts'
import type { Projector } from '../projector.ts'

const logins: DocumentModel<Login> = {
  table: 'logins',
  category: 'login',
  absent: pendingLogin,
  fold: folding('login', evolveLogin),
  columns: (login) => (login.status === 'pending' ? {} : { tenant_id: login.tenantId }),
}

export const loginsProjector: Projector = {
  name: 'logins',
  tables: ['logins'],
  ddl: `
    create table logins (
      stream text primary key,
      revision int not null,
      state jsonb not null,
      tenant_id text not null
    )`,
  fold: (db, entries) => foldDocuments(db, logins, entries),
}
