import { type Replay, replays } from '../../src/domain/replays/replay.ts'
import { applyToDocuments, type DocumentModel, evolvedBy } from '../document.ts'
import type { Projector } from '../projector.ts'

const model: DocumentModel<Replay> = {
  table: 'replays',
  ...evolvedBy(replays),
  columns: (replay) =>
    replay.status === 'absent'
      ? {}
      : {
          replay_id: replay.replayId,
          tenant_id: replay.tenantId,
          status: replay.status,
          requested_at: replay.requestedAt,
        },
}

/** Every replay of webhook deliveries. */
export const replaysProjector: Projector = {
  name: 'replays',
  tables: ['replays'],
  ddl: `
    create table replays (
      stream text primary key,
      revision int not null,
      state jsonb not null,
      replay_id text not null unique,
      tenant_id text not null,
      status text not null,
      requested_at timestamptz not null
    );
    create index replays_by_age on replays (tenant_id, requested_at desc, replay_id desc);
    create index replays_running on replays (requested_at) where status = 'running'`,
  apply: (db, entries) => applyToDocuments(db, model, entries),
}
