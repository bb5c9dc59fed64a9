import type { Pool } from 'pg'
import { mails, type ProductMail, usualMail } from '../src/domain/mails/mail.ts'
import { defineDocuments, evolvedBy, projectorOf } from './document.ts'

const documents = defineDocuments(evolvedBy(mails), {
  table: 'mails',
  begun: ({ tenantId, productId }) =>
    tenantId === undefined || productId === undefined ? undefined : { tenantId, productId },
  columns: { tenantId: 'text not null', productId: 'text not null' },
  constraints: ['unique (tenant_id, product_id)'],
})

export const mailsProjector = projectorOf(documents)

/** The settings of the mail with the license key to a product's customers; the default when none were set. */
export async function findMail(db: Pool, tenantId: string, productId: string): Promise<ProductMail> {
  const { rows } = await db.query<{ state: ProductMail }>({
    name: 'find-mail',
    text: 'select state from mails where tenant_id = $1 and product_id = $2',
    values: [tenantId, productId],
  })
  return rows[0]?.state ?? usualMail
}
