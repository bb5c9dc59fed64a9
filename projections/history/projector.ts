import { writeRows } from '../pipeline.ts'
import type { Projector } from '../projector.ts'

/** One row an event of every license, in the order of its stream: what has happened, when, and by whom. */
export const historyProjector: Projector = {
  name: 'history',
  tables: ['license_history'],
  ddl: `
    create table license_history (
      license_id text not null,
      revision int not null,
      event_id uuid not null,
      type text not null,
      data json not null,
      actor text not null,
      request_id text not null,
      causation_id text not null,
      correlation_id text not null,
      at timestamptz not null,
      primary key (license_id, revision)
    )`,
  async apply(db, entries) {
    const rows = entries.flatMap(({ category, stream, revision, id, event, metadata }) =>
      category === 'license'
        ? {
            license_id: stream.slice('license-'.length),
            revision,
            event_id: id,
            type: event.type,
            data: event.data,
            actor: metadata.actor,
            request_id: metadata.requestId,
            causation_id: metadata.causationId,
            correlation_id: metadata.correlationId,
            at: metadata.at,
          }
        : [],
    )
    await writeRows(db, 'write-license-history', writeHistory, rows)
  },
}

const writeHistory = `
  insert into license_history select * from json_populate_recordset(null::license_history, $1)
  on conflict (license_id, revision) do nothing`
