import type { CallName } from '../../usage/refusals.ts'

/** The reasons of refusals, as lists name them. Reasons that a newer version recorded are shown as they are. */
export const reasonNames: Readonly<Record<string, string>> = {
  seat_limit_reached: 'seat limit',
  plan_limit: 'plan limit',
  inactive: 'device has no seat',
  seat_lost: 'floating seat lost',
  assigned_to_another: 'seat of another person',
  borrowing_off: 'seats cannot be borrowed',
  borrow_limit_reached: 'borrow limit',
  suspended: 'suspended',
  expired: 'expired',
  build_not_covered: 'build too new',
  fallback: 'paid period over',
  revoked: 'revoked',
  reminted: 'replaced key',
  not_found: 'unknown key',
  meter_exhausted: 'not enough left of the meter',
  no_such_meter: 'no such meter',
  in_two_places: 'two machines in one seat (not refused)',
}

export const reasonName = (reason: string): string => reasonNames[reason] ?? reason

export const callWords: Readonly<Record<CallName, string>> = {
  activate: 'Activation',
  validate: 'Validation',
  heartbeat: 'Heartbeat',
  consume: 'Use of a meter',
  hold: 'Hold of a meter',
}

/** The path of the list, filtered. */
export const refusalsPath = (filter: Readonly<Record<string, string>> = {}): string => {
  const query = new URLSearchParams(filter).toString()
  return `/dashboard/refusals${query && `?${query}`}`
}
