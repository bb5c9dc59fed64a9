import { type Trial, trials } from '../../src/domain/trials/trial.ts'
import { applyToDocuments, type DocumentModel, evolvedBy } from '../document.ts'
import type { Projector } from '../projector.ts'

const model: DocumentModel<Trial> = {
  table: 'trials',
  ...evolvedBy(trials),
  columns: (trial) =>
    trial.status === 'unknown'
      ? {}
      : { tenant_id: trial.tenantId, product_id: trial.productId, shared: trial.sharedAt !== null },
}

/** The trial of each machine for a product. */
export const trialsProjector: Projector = {
  name: 'trials',
  tables: ['trials'],
  ddl: `
    create table trials (
      stream text primary key,
      revision int not null,
      state jsonb not null,
      tenant_id text not null,
      product_id text not null,
      shared boolean not null
    );
    create index trials_shared on trials (tenant_id, product_id) where shared`,
  apply: (db, entries) => applyToDocuments(db, model, entries),
}
