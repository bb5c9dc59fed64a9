import { slotOf } from '../../src/domain/licenses/event-traits.ts'
import type { Recorded } from '../../src/domain/recorded.ts'
import { defineTable, type RowIn } from '../table.ts'

/**
 * One row for each event of a license. The projector of licenses writes it, since it knows the number of used seats
 * after each event.
 */
export const licenseHistory = defineTable(
  'license_history',
  {
    licenseId: 'text not null',
    revision: 'int not null',
    eventId: 'uuid not null',
    type: 'text not null',
    data: 'json not null',
    actor: 'text not null',
    requestId: 'text not null',
    causationId: 'text not null',
    correlationId: 'text not null',
    at: 'timestamptz not null',
    position: 'bigint not null',
    seatsUsed: 'int not null',
    // Only the newest of the events in one slot counts, so that a state of years ago is computed from few of them.
    slot: 'text',
    // When it was over with: no event is before the one that stands before it, whatever the clocks said.
    moment: 'timestamptz not null',
  },
  {
    key: ['licenseId', 'revision'],
    over: 'nothing',
    indexes: {
      license_history_by_slot: '(license_id, slot, revision)',
      license_history_by_request: '(request_id)',
    },
  },
)

type RecordedLicense = Recorded<'license'>

/**
 * @param seatsUsed the number of used seats after the event
 * @param moment the event's time, or the latest time of an earlier event of the license
 */
export const historyRow = (
  { stream, revision, position, id, event, metadata }: RecordedLicense,
  seatsUsed: number,
  moment: string,
): RowIn<typeof licenseHistory> => ({
  licenseId: stream.slice('license-'.length),
  revision,
  eventId: id,
  type: event.type,
  data: event.data,
  actor: metadata.actor,
  requestId: metadata.requestId,
  causationId: metadata.causationId,
  correlationId: metadata.correlationId,
  at: metadata.at,
  position: String(position),
  seatsUsed,
  slot: slotOf(event),
  moment,
})
