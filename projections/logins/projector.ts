import { type Login, logins } from '../../src/domain/logins/login.ts'
import { applyToDocuments, type DocumentModel, evolvedBy } from '../document.ts'
import type { Projector } from '../projector.ts'

const model: DocumentModel<Login> = {
  table: 'logins',
  ...evolvedBy(logins),
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
  apply: (db, entries) => applyToDocuments(db, model, entries),
}
