import { mails } from '../../src/domain/mails/mail.ts'
import { defineDocuments, evolvedBy, projectorOf } from '../document.ts'

const documents = defineDocuments(evolvedBy(mails), {
  table: 'mails',
  begun: ({ tenantId, productId }) =>
    tenantId === undefined || productId === undefined ? undefined : { tenantId, productId },
  columns: { tenantId: 'text not null', productId: 'text not null' },
  constraints: ['unique (tenant_id, product_id)'],
})

export const mailsProjector = projectorOf(documents)
