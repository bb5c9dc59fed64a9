import { evolveMail, type ProductMail, usualMail } from '../../src/domain/mail/mail.ts'
import { folding } from '../../src/domain/recorded.ts'
import { type DocumentModel, foldDocuments } from '../document.ts'
import type { Projector } from '../projector.ts'

const mails: DocumentModel<ProductMail> = {
  table: 'mails',
  category: 'mail',
  absent: usualMail,
  fold: folding('mail', evolveMail),
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
  fold: (db, entries) => foldDocuments(db, mails, entries),
}
