import { hash } from 'node:crypto'
import type { Pool } from 'pg'
import type { PortalLogo, PortalSettings } from '../src/domain/portal/events.ts'
import type { AddedLanguages, LanguageNames } from '../src/domain/portal/languages.ts'
import { closedPortal, portals } from '../src/domain/portal/portal.ts'
import { defineDocuments, evolvedBy, projectorOf } from './document.ts'

const namesOf = (languages: AddedLanguages): LanguageNames =>
  Object.fromEntries(Object.entries(languages).map(([tag, { name }]) => [tag, name]))

const documents = defineDocuments(evolvedBy(portals), {
  table: 'portals',
  begun: ({ tenantId, updatedAt, ...portal }) =>
    tenantId === undefined || updatedAt === null ? undefined : { ...portal, tenantId, updatedAt },
  columns: {
    tenantId: 'text not null unique',
    settings: 'jsonb not null',
    updatedAt: 'timestamptz not null',
  },
  computed: {
    logoType: ['text', ({ logo }) => logo?.type ?? null],
    logoHash: ['text', ({ logo }) => (logo === null ? null : hash('sha256', logo.data, 'hex').slice(0, 16))],
    addedLanguages: ['jsonb not null', ({ languages }) => namesOf(languages)],
  },
})

/** The portals of the vendors' customers. A page reads the columns; the picture itself and the texts of added languages are in the state alone. */
export const portalProjector = projectorOf(documents)

/** A portal without the bytes of its logo and the texts of added languages. */
export type ShownPortal = {
  settings: PortalSettings
  /** The kind of the logo, and what identifies this picture; null without a logo. */
  logo: { type: PortalLogo['type']; hash: string } | null
  /** The names of the languages that the vendor added, by their tags. */
  addedLanguages: LanguageNames
  updatedAt: string | null
}

type Row = {
  settings: PortalSettings
  logo_type: PortalLogo['type'] | null
  logo_hash: string | null
  added_languages: LanguageNames
  updated_at: string | null
}

const shownFrom = (row: Row): ShownPortal => ({
  settings: row.settings,
  logo:
    row.logo_type === null || row.logo_hash === null ? null : { type: row.logo_type, hash: row.logo_hash },
  addedLanguages: row.added_languages,
  updatedAt: row.updated_at,
})

/** The portal of a tenant; a closed one before its vendor has set anything. */
export async function findPortal(db: Pool, tenantId: string): Promise<ShownPortal> {
  const { rows } = await db.query<Row>({
    name: 'find-portal',
    text: 'select settings, logo_type, logo_hash, added_languages, updated_at from portals where tenant_id = $1',
    values: [tenantId],
  })
  const { settings, updatedAt } = closedPortal
  return rows[0] ? shownFrom(rows[0]) : { settings, logo: null, addedLanguages: {}, updatedAt }
}

/** A portal that customers may use: it is turned on, and its tenant is active. */
export type OpenPortal = ShownPortal & { tenantId: string; name: string }

/** @returns undefined for an unknown tenant just as for a portal that is off */
export async function findOpenPortal(db: Pool, tenantId: string): Promise<OpenPortal | undefined> {
  const { rows } = await db.query<Row & { name: string }>({
    name: 'find-open-portal',
    text: `select p.settings, p.logo_type, p.logo_hash, p.added_languages, p.updated_at,
             coalesce(p.settings->>'name', t.state->>'name') as name
           from portals p join tenants t using (tenant_id)
           where p.tenant_id = $1 and (p.settings->>'enabled')::boolean and t.state->>'status' = 'active'`,
    values: [tenantId],
  })
  const [row] = rows
  return row && { tenantId, name: row.name, ...shownFrom(row) }
}

/** The logo of a tenant's portal. */
export async function findLogo(db: Pool, tenantId: string): Promise<PortalLogo | null> {
  const { rows } = await db.query<{ logo: PortalLogo | null }>({
    name: 'find-portal-logo',
    text: `select state->'logo' as logo from portals where tenant_id = $1`,
    values: [tenantId],
  })
  return rows[0]?.logo ?? null
}

/** The languages that a vendor added, with their texts. */
export async function findLanguages(db: Pool, tenantId: string): Promise<AddedLanguages> {
  const { rows } = await db.query<{ languages: AddedLanguages }>({
    name: 'find-portal-languages',
    text: `select state->'languages' as languages from portals where tenant_id = $1`,
    values: [tenantId],
  })
  return rows[0]?.languages ?? {}
}

/** The texts of a language that the vendor added; none of one that is built in. */
export async function findTextsOf(
  db: Pool,
  { tenantId, addedLanguages }: Pick<OpenPortal, 'tenantId' | 'addedLanguages'>,
  tag: string,
): Promise<Readonly<Record<string, string>>> {
  return Object.hasOwn(addedLanguages, tag) ? ((await findLanguages(db, tenantId))[tag]?.texts ?? {}) : {}
}
