import { Problem } from '../../http/problem.ts'
import { inUtc } from '../../http/schemas.ts'
import { type Granularity, maxPoints, type UsageRange, usageRange } from '../../usage/range.ts'

type Requested = { from?: string | undefined; to?: string | undefined; granularity: Granularity }

/**
 * The whole hours or days that a request asks for.
 * @param now a moment in UTC
 * @throws Problem 422 for an invalid or too large range
 */
export function requireRange({ from, to, granularity }: Requested, now: string): UsageRange {
  const range = usageRange({ from: from && inUtc(from), to: to && inUtc(to), granularity }, now)
  if (typeof range === 'string') throw new Problem(422, 'invalid_request', rangeProblems[range])
  return range
}

const rangeProblems = {
  empty: 'from must lie before to, and not ahead of now',
  'too early': 'from must not lie before 1970',
  'too long': `the range has more than ${maxPoints} points; choose a shorter range or a coarser granularity`,
}
