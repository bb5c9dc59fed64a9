import { slotOf } from '../../src/domain/licenses/slots.ts'
import type { Recorded } from '../../src/domain/recorded.ts'
import { type Statement, writesOf } from '../statements.ts'

/**
 * One row for each event of a license. The projector of licenses writes it, since it knows the number of used seats
 * after each event.
 */
export const historyDdl = `
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
    position bigint not null,
    seats_used int not null,
    -- Only the newest of the events in one slot counts, so that a state of years ago is computed from few of them.
    slot text,
    -- When it was over with: no event is before the one that stands before it, whatever the clocks said.
    moment timestamptz not null,
    primary key (license_id, revision)
  );
  create index license_history_by_slot on license_history (license_id, slot, revision);
  create index license_history_by_request on license_history (request_id)`

type RecordedLicense = Recorded<'license'>

/**
 * @param seatsUsed the number of used seats after the event
 * @param moment the event's time, or the latest time of an earlier event of the license
 */
export const historyRow = (
  { stream, revision, position, id, event, metadata }: RecordedLicense,
  seatsUsed: number,
  moment: string,
): object => ({
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
  position: String(position),
  seats_used: seatsUsed,
  slot: slotOf(event),
  moment,
})

export function writesOfHistory(rows: readonly object[]): Statement[] {
  return writesOf(
    'write-license-history',
    `insert into license_history select * from json_populate_recordset(null::license_history, $1)
     on conflict (license_id, revision) do nothing`,
    rows,
  )
}
