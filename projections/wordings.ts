import type { Pool } from 'pg'
import type { MailKind } from '../src/domain/mails/kinds.ts'
import type { MailLook, Wording } from '../src/domain/mails/rendering.ts'
import type { MailStyle } from '../src/domain/mails/wording-events.ts'
import { builtInWordings, templateFor, type Wordings, wordings } from '../src/domain/mails/wordings.ts'
import { languageAmong, type PortalLanguage } from '../src/domain/portal/languages.ts'
import { defineDocuments, evolvedBy, projectorOf } from './document.ts'
import { findLanguages, findLogo } from './portal.ts'

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

/** What the mails of a tenant have in common, with the languages of its portal, and the logo where its mails show it. */
export async function findLook(db: Pool, tenantId: string): Promise<MailLook> {
  return lookOf(db, tenantId, (await findWordings(db, tenantId)).style)
}

async function lookOf(db: Pool, tenantId: string, style: MailStyle): Promise<MailLook> {
  const { replyTo, footer } = style
  const [languages, logo] = await Promise.all([
    findLanguages(db, tenantId),
    style.logo ? findLogo(db, tenantId) : null,
  ])
  return { replyTo, footer, logo, languages }
}

/** How a mail to a customer is worded. @param mail.languages that it may be in, the most wanted first */
export async function findWording(
  db: Pool,
  tenantId: string,
  mail: { kind: MailKind; productId: string; languages: readonly (PortalLanguage | null)[] },
): Promise<Wording> {
  const found = await findWordings(db, tenantId)
  const look = await lookOf(db, tenantId, found.style)
  const language = languageAmong(look.languages, mail.languages)
  return { template: templateFor(found, mail.kind, mail.productId, language), look }
}
