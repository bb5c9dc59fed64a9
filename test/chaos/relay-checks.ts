import { z } from 'zod'
import { type Answered, type Life, mostAtOnce } from '../relay/lives.ts'
import type { RequestClaims } from '../relay/vendor.ts'
import type { Violation } from './log-checks.ts'

/** What of an answer is wrong at any time, whatever fails. */
export function wrongIn(name: string, answered: Answered | undefined): Violation | undefined {
  if (!answered) return undefined
  const { status, retryAfter, said } = answered
  if (status === 503 && retryAfter === null)
    return { what: name, expected: 'a Retry-After with 503', found: JSON.stringify(said) }
  // An instance that was given back is not known to a heartbeat that was late: 422.
  if ([200, 422, 503].includes(status)) return undefined
  return { what: name, expected: '200, 422 or 503', found: `${String(status)} ${JSON.stringify(said)}` }
}

/** Compares all that clients were ever answered with what the certificate allows. */
export function checkLives(lives: readonly Life[], seats: number): Violation[] {
  const most = mostAtOnce(lives)
  return [
    ...(most > seats
      ? [{ what: 'seats at once', expected: `at most ${String(seats)}`, found: String(most) }]
      : []),
    ...checkFences(lives),
  ]
}

/** A taking that was asked for after another one was answered has the higher fence. */
function checkFences(lives: readonly Life[]): Violation[] {
  const answered = [...lives].sort((one, other) => one.from - other.from)
  const found: Violation[] = []
  let [highest, next] = [0, 0]
  for (const { asked, fence } of [...lives].sort((one, other) => one.asked - other.asked)) {
    for (let before = answered[next]; before && before.from < asked; before = answered[++next])
      highest = Math.max(highest, before.fence)
    if (fence <= highest)
      found.push({ what: 'a fence', expected: `more than ${String(highest)}`, found: String(fence) })
  }
  return found
}

const Status = z.looseObject({ fault: z.string().nullable(), entries: z.int() })

/** Reads what `relay status` says of the chain. @param before how many entries it had earlier */
export function checkStatus(
  { code, stdout, stderr }: { code: number | null; stdout: string; stderr: string },
  before: number,
): { entries: number; violations: Violation[] } {
  const { data } = Status.safeParse(jsonIn(stdout))
  if (!data) {
    const found = `${String(code)} ${stderr.slice(-300)}`
    return { entries: before, violations: [{ what: 'relay status', expected: 'an answer', found }] }
  }
  const { fault, entries } = data
  const isWhole = fault === null && entries >= before
  const expected = `whole, with at least ${String(before)} entries`
  const found = `${String(fault)}, ${String(entries)} entries`
  return { entries, violations: isWhole ? [] : [{ what: 'the chain', expected, found }] }
}

/**
 * Compares the usage that the relay reported over all of its time with its takings, of which each has a fence.
 * @param reported by minute: what was reported last of it
 */
export function checkReported(
  reported: ReadonlyMap<number, RequestClaims['minutes'][number]>,
  lives: readonly Life[],
  seats: number,
): Violation[] {
  const taken = [...reported.values()].reduce((sum, [, , each]) => sum + each, 0)
  const peak = [...reported.values()].reduce((most, [, each]) => Math.max(most, each), 0)
  const answered = lives.reduce((most, { fence }) => Math.max(most, fence), 0)
  return [
    // A taking may have been recorded whose answer was lost.
    ...(taken < answered
      ? [{ what: 'reported takings', expected: `at least ${String(answered)}`, found: String(taken) }]
      : []),
    ...(peak > seats
      ? [{ what: 'the reported peak', expected: `at most ${String(seats)}`, found: String(peak) }]
      : []),
  ]
}

function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
