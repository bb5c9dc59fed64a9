import { folding } from '../../src/domain/recorded.ts'
import { evolveTrial, type Trial, unknownMachine } from '../../src/domain/trial/trial.ts'
import { type DocumentModel, foldDocuments } from '../document.ts'
import type { Projector } from '../projector.ts'

const trials: DocumentModel<Trial> = {
  table: 'trials',
  category: 'trial',
  absent: unknownMachine,
  fold: folding('trial', evolveTrial),
  columns: (trial) =>
    trial.status === 'unknown'
      ? {}
      : { tenant_id: trial.tenantId, product_id: trial.productId, shared: trial.sharedAt !== null },
}

/** What the trial ledger knows of each machine. */
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
  fold: (db, entries) => foldDocuments(db, trials, entries),
}
