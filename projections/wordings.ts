import type { Pool } from 'pg'
import type { MailKind } from '../src/domain/mails/kinds.ts'
import type { MailLook, Wording } from '../src/domain/mails/rendering.ts'
import type { MailStyle } from '../src/domain/mails/wording-events.ts'
import { builtInWordings, templateFor, type Wordings, wordings } from '../src/domain/mails/wordings.ts'
import type { PortalLanguage } from '../src/domain/portal/texts.ts'
import { defineDocuments, evolvedBy, projectorOf } from './document.ts'
import { findLogo } from './portal.ts'

const documents = defineDocuments(evolvedBy(wordings), {
  table: 'wordings',
  begun: ({ tenantId, ...wordings }) => (tenantId === undefined ? undefined : { ...wordings, tenantId }),
  columns: { tenantId: 'text not null unique' },
})

/** How each tenant words its mails. */
export const wordingsProjector = projectorOf(documents)

/** The templates of a tenant and the style of its mails; the built-in ones before its vendor has set anything. */
export async function findWordings(db: Pool, tenantId: string): Promise<Wordings> {
  const { rows } = await db.query<{ state: Wordings }>({
    name: 'find-wordings',
    text: 'select state from wordings where tenant_id = $1',
    values: [tenantId],
  })
  return rows[0]?.state ?? builtInWordings
}

/** What the mails of a tenant have in common, with the logo of its portal where its mails show it. */
export async function findLook(db: Pool, tenantId: string): Promise<MailLook> {
  return lookOf(db, tenantId, (await findWordings(db, tenantId)).style)
}

async function lookOf(db: Pool, tenantId: string, style: MailStyle): Promise<MailLook> {
  const { replyTo, footer } = style
  return { replyTo, footer, logo: style.logo ? await findLogo(db, tenantId) : null }
}

/** How a mail to a customer is worded, whose language is known. */
export async function findWording(
  db: Pool,
  tenantId: string,
  mail: { kind: MailKind; productId: string; language: PortalLanguage },
): Promise<Wording> {
  const found = await findWordings(db, tenantId)
  const template = templateFor(found, mail.kind, mail.productId, mail.language)
  return { template, look: await lookOf(db, tenantId, found.style) }
}
