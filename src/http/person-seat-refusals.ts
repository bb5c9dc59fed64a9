import type { RefusalCode } from '../domain/refusal.ts'

/** The responses to the refusals about seats that people have. */
export const personSeatRefusals = {
  seats_not_named: [
    409,
    'the seats of this license are of devices; issue a license of a key type with seatPolicy named to assign them to people',
  ],
  assigned_to_another: [
    409,
    'the seats of this license are of people; activate with the key of a person who has one, on a device that no other person uses',
  ],
  person_without_seat: [404, 'the person has no seat of this license; assign one first'],
  seat_waits: [
    409,
    'every free seat was taken from a person a short while ago, and waits for the end of reassignEveryDays; try again then, or ask the vendor',
  ],
} satisfies Partial<Record<RefusalCode, [status: number, message: string]>>
