import type { License } from '../../src/domain/licenses/license.ts'
import type { Statement } from '../statements.ts'
import { defineTable, type RowIn } from '../table.ts'

/** How long seats in use and denied takings are kept, in days. */
export const seatUseKeptDays = 400

/**
 * The seats in use of licenses with floating seats, in each minute in which one was taken or ended. What lies between two rows follows
 * from them: as many as at the end of the one, which are those at the start of the other.
 */
export const seatMinutes = defineTable(
  'seat_minutes',
  {
    licenseId: 'text not null',
    minute: 'timestamptz not null',
    atStart: 'int not null',
    peak: 'int not null',
    atEnd: 'int not null',
  },
  {
    key: ['licenseId', 'minute'],
    over: 'row',
    merged: { atStart: 'first', peak: 'greatest' },
    indexes: { seat_minutes_by_age: '(minute)' },
  },
)

type SeatMinute = RowIn<typeof seatMinutes>

/** What events of one batch change, by license and minute: a statement writes each row once. */
export type SeatMinutes = Map<string, SeatMinute>

/**
 * Adds what one event changes. Licenses without floating seats have no rows.
 * @param moment the time of the event, or the latest of an earlier event of the license
 */
export function countSeats(
  minutes: SeatMinutes,
  before: License | undefined,
  after: License,
  moment: string,
): void {
  if (after.status !== 'issued' || after.floating === null) return
  const was = before?.status === 'issued' ? before.seatsUsed : 0
  const { licenseId, seatsUsed } = after
  if (was === seatsUsed) return
  const minute = `${moment.slice(0, 'yyyy-mm-ddThh:mm'.length)}:00.000Z`
  const key = `${licenseId} ${minute}`
  const row = minutes.get(key) ?? { licenseId, minute, atStart: was, peak: was, atEnd: was }
  minutes.set(key, { ...row, peak: Math.max(row.peak, seatsUsed), atEnd: seatsUsed })
}

/**
 * The statements that write these rows, and delete those that are too old. The newest row says what is too old, and no clock: so a rebuild
 * gives the same rows, whenever it runs. A day more is kept, since ranges are read from the start of a day on.
 */
export const writesOfSeats = (minutes: SeatMinutes): Statement[] =>
  minutes.size === 0 ? [] : [...seatMinutes.write([...minutes.values()]), deleteOld]

const deleteOld: Statement = {
  name: 'delete-old-seat-minutes',
  text: `delete from seat_minutes
         where minute < (select max(minute) from seat_minutes) - interval '${(seatUseKeptDays + 1) * 24} hours'`,
}
