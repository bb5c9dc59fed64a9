import { hash } from 'node:crypto'
import { type Portal, portals } from '../../src/domain/portal/portal.ts'
import { applyToDocuments, type DocumentModel, evolvedBy } from '../document.ts'
import type { Projector } from '../projector.ts'

const model: DocumentModel<Portal> = {
  table: 'portals',
  ...evolvedBy(portals),
  columns: ({ tenantId, settings, logo, updatedAt }) =>
    tenantId === undefined
      ? {}
      : {
          tenant_id: tenantId,
          settings,
          logo_type: logo?.type ?? null,
          logo_hash: logo === null ? null : hash('sha256', logo.data, 'hex').slice(0, 16),
          updated_at: updatedAt,
        },
}

/** The portals of the vendors' customers. A page reads the columns; the picture itself is in the state alone. */
export const portalProjector: Projector = {
  name: 'portals',
  tables: ['portals'],
  ddl: `
    create table portals (
      stream text primary key,
      revision int not null,
      state jsonb not null,
      tenant_id text not null unique,
      settings jsonb not null,
      logo_type text,
      logo_hash text,
      updated_at timestamptz not null
    )`,
  apply: (db, entries) => applyToDocuments(db, model, entries),
}
