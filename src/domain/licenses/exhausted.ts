import type { Tell } from './device-mails.ts'
import type { LicenseEvent, LicenseTerms } from './events.ts'
import { type Floating, mostSeats } from './floating.ts'
import { toldByMail } from './notices.ts'
import { type Relays, seatsTaken } from './relay-seats.ts'
import type { Seats } from './seats.ts'

/** Whether it was recorded that a license had no floating seat left. */
export type Exhausted = {
  /** When it was recorded last; null before the first time. */
  exhaustedAt: string | null
}

/** A taker was refused for want of a seat. */
export type NoteExhausted = { type: 'NoteExhausted'; waiting: number; at: string } & Tell

const hourMs = 3_600_000

/** Whether it was recorded less than an hour ago. */
export const isExhaustionTold = ({ exhaustedAt }: Exhausted, at: string): boolean =>
  exhaustedAt !== null && Date.parse(at) - Date.parse(exhaustedAt) < hourMs

/** Records that no floating seat is left, at most once an hour. */
export function exhausted(
  license: Exhausted & Seats & Floating & Relays & Pick<LicenseTerms, 'deviceLimit' | 'holder'>,
  { waiting, tell, at }: NoteExhausted,
): LicenseEvent[] {
  const most = mostSeats(license)
  const seats = seatsTaken(license, at)
  if (license.floating === null || most === null || seats < most || isExhaustionTold(license, at)) return []
  const told = toldByMail(license, tell?.includes('seats_full') ?? false)
  return [{ type: 'SeatsExhausted', data: { seats, waiting, ...told, at } }]
}
