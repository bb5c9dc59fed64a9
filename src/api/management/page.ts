import type { Keyset, Order, PageOf } from '../../../projections/page.ts'
import { seatUseKeptDays } from '../../../projections/seats/minutes.ts'
import type { Cursors } from '../../http/cursor.ts'
import { Problem } from '../../http/problem.ts'
import { inUtc } from '../../http/schemas.ts'
import {
  type Granularity,
  maxPoints,
  type SeatGranularity,
  seatRange,
  type UsageRange,
  usageRange,
} from '../../usage/range.ts'

type Page<View> = { items: View[]; nextCursor: string | null }

/** The parameters of a list request that say which page is asked for. */
export type PageQuery = { cursor?: string | undefined; limit: number; order: Order }

/**
 * Answers a list request: reads the cursor, which is valid only for this list, and returns the cursor of the next
 * page.
 * @param boundTo the tenant, the list and its filters; the order is added
 * @param view converts the rows of one page to their public form, in order
 * @throws Problem 400 for a cursor of another list
 */
export async function answerPage<Row, View>(
  cursors: Cursors,
  boundTo: readonly unknown[],
  { cursor, limit, order }: PageQuery,
  load: (keyset: Keyset) => Promise<PageOf<Row>>,
  view: (rows: Row[]) => View[] | Promise<View[]>,
): Promise<Page<View>> {
  // Cursors that were handed out before lists had an order stay valid.
  const list = order === 'newest' ? boundTo : [...boundTo, order]
  const { items, next } = await load({ after: cursors.read(list, cursor), limit, order })
  return { items: await view(items), nextCursor: cursors.write(list, next) }
}

type Requested = { from?: string | undefined; to?: string | undefined; granularity: Granularity }

/**
 * The whole hours or days that a request asks for.
 * @param now a moment in UTC
 * @throws Problem 422 for an invalid or too large range
 */
export const requireRange = ({ from, to, granularity }: Requested, now: string): UsageRange =>
  requireWhole(usageRange({ from: from && inUtc(from), to: to && inUtc(to), granularity }, now))

/**
 * The whole minutes, hours or days of seats in use that a request asks for.
 * @param now a moment in UTC
 * @throws Problem 422 for an invalid range, or one that is no longer kept
 */
export const requireSeatRange = (
  { from, to }: Omit<Requested, 'granularity'>,
  now: string,
): UsageRange<SeatGranularity> =>
  requireWhole(seatRange({ from: from && inUtc(from), to: to && inUtc(to) }, now))

function requireWhole<Range extends object>(range: Range | keyof typeof rangeProblems): Range {
  if (typeof range === 'string') throw new Problem(422, 'invalid_request', rangeProblems[range])
  return range
}

const rangeProblems = {
  empty: 'from must lie before to, and not ahead of now',
  'too early': 'from must not lie before 1970',
  'too old': `from must not lie more than ${seatUseKeptDays} days back: seats in use are kept for so long`,
  'too long': `the range has more than ${maxPoints} points; choose a shorter range or a coarser granularity`,
}
