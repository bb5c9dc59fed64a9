import { Refusal } from '../refusal.ts'
import type { LicenseEvent } from './events.ts'
import type { Floating } from './floating.ts'

/** The floating seats of a license that devices have borrowed: they keep them without a network, each until its file ends. */
export type Borrowed = {
  /** By device id, when its file ends; those that have ended may be left out. Null for a license that never lent a seat. */
  borrowed: Readonly<Record<string, string>> | null
}

/** What the license says of borrowing; undefined where its seats cannot be borrowed. */
export function borrowing({
  floating,
}: Pick<Floating, 'floating'>): { maxDays: number; most: number } | undefined {
  const { maxBorrowDays: maxDays, maxBorrowed: most } = floating ?? {}
  return maxDays === undefined || most === undefined ? undefined : { maxDays, most }
}

/**
 * A device that has borrowed its seat may do so again.
 * @throws Refusal `borrowing_off`, `borrow_limit_reached`
 */
export function requireMayBorrow(
  license: Pick<Floating, 'floating'> & Borrowed,
  { deviceId, at }: { deviceId: string; at: string },
): void {
  const allowed = borrowing(license)
  if (!allowed) throw new Refusal('borrowing_off')
  const others = Object.entries(livingOf(license, at)).filter(([id]) => id !== deviceId)
  if (others.length >= allowed.most) throw new Refusal('borrow_limit_reached')
}

const livingOf = ({ borrowed }: Borrowed, at: string): Record<string, string> =>
  Object.fromEntries(Object.entries(borrowed ?? {}).filter(([, endsAt]) => at < endsAt))

/** The borrowed seats after a file was made for a device, or given back. */
export function evolveBorrowed(
  license: Pick<Floating, 'floating'> & Borrowed,
  event: Extract<LicenseEvent, { type: 'LicenseFileIssued' | 'LicenseFileReleased' }>,
): Borrowed {
  if (license.floating === null) return { borrowed: license.borrowed }
  const { deviceId, at } = event.data
  const { [deviceId]: _, ...others } = livingOf(license, at)
  return {
    borrowed: event.type === 'LicenseFileIssued' ? { ...others, [deviceId]: event.data.endsAt } : others,
  }
}
