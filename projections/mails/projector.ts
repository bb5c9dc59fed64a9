import { mails, type ProductMail } from '../../src/domain/mails/mail.ts'
import { applyToDocuments, type DocumentModel, evolvedBy } from '../document.ts'
import type { Projector } from '../projector.ts'

const model: DocumentModel<ProductMail> = {
  table: 'mails',
  ...evolvedBy(mails),
  columns: ({ tenantId, productId }) =>
    tenantId === undefined ? {} : { tenant_id: tenantId, product_id: productId },
}

export const mailsProjector: Projector = {
  name: 'mails',
  tables: ['mails'],
  ddl: `
    create table mails (
      stream text primary key,
      revision int not null,
      state jsonb not null,
      tenant_id text not null,
      product_id text not null,
      unique (tenant_id, product_id)
    )`,
  apply: (db, entries) => applyToDocuments(db, model, entries),
}
