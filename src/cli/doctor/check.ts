import { TimeoutError, withTimeout } from '../../async/timeout.ts'

/** What a check came to. Detail and remedy are sentences for the operator; a healthy part may have a remedy, too. */
export type CheckResult = {
  ok: boolean
  /** Whether keyledger is unhealthy without it; else it is a warning. */
  required: boolean
  detail?: string
  /** What to do about it. */
  remedy?: string
}

export type Check = {
  name: string
  /** How long it may take, unless it is the usual time. */
  limitMs?: number
  /** @param signal aborts when the time is over */
  run(signal: AbortSignal): Promise<CheckResult>
}

export type CheckResults = Record<string, CheckResult>

const usualLimitMs = 15_000

/**
 * Runs all checks side by side, each within its time. One that takes longer or throws is a finding like any other.
 * @returns the findings in the order of the checks; whether all ended by themselves
 */
export async function runChecks(checks: readonly Check[]): Promise<{ found: CheckResults; ended: boolean }> {
  const results = await Promise.all(checks.map(runOne))
  return {
    found: Object.fromEntries(results.map(({ name, finding }) => [name, finding])),
    ended: results.every(({ ended }) => ended),
  }
}

async function runOne({ name, limitMs = usualLimitMs, run }: Check) {
  const over = new AbortController()
  try {
    const finding = await withTimeout(run(over.signal), limitMs)
    return { name, finding, ended: true }
  } catch (error) {
    const late = error instanceof TimeoutError
    const detail = late ? `did not finish within ${limitMs / 1000} s` : messageOf(error)
    return { name, finding: { ok: false, required: true, detail }, ended: !late }
  } finally {
    over.abort()
  }
}

/** What an error says, without its stack; what an attempt on several addresses came to is said for each. */
function messageOf(error: unknown): string {
  if (error instanceof AggregateError && error.errors.length > 0)
    return [...new Set(error.errors.map(messageOf))].join('; ')
  if (!(error instanceof Error)) return String(error)
  return error.message || error.name
}

/** `ENOENT` and the like; undefined for an error that has none. */
export function codeOf(error: unknown): string | undefined {
  if (error instanceof AggregateError) return codeOf(error.errors[0])
  if (!(error instanceof Error)) return undefined
  return 'code' in error && typeof error.code === 'string' ? error.code : codeOf(error.cause)
}
