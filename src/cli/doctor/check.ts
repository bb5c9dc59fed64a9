import { TimeoutError, withTimeout } from '../../async/timeout.ts'

/**
 * The result of a check. `detail` and `remedy` are sentences for the operator; a healthy part may have a remedy,
 * too.
 */
export type CheckResult = {
  ok: boolean
  /** Whether a failure makes the installation unhealthy; otherwise it is a warning. */
  required: boolean
  detail?: string
  /** What to do about the failure. */
  remedy?: string
}

export type Check = {
  name: string
  /** How long the check may take, when it differs from the usual limit. */
  limitMs?: number
  /** @param signal aborts after the time limit */
  run(signal: AbortSignal): Promise<CheckResult>
}

export type CheckResults = Record<string, CheckResult>

const usualLimitMs = 15_000

/**
 * Runs all checks concurrently, each within its time limit. A check that times out or throws becomes a failed
 * result.
 * @returns the results in the order of the checks, and whether all checks ended by themselves
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

/** The message of an error without its stack; for several attempted addresses, the message of each. */
function messageOf(error: unknown): string {
  if (error instanceof AggregateError && error.errors.length > 0)
    return [...new Set(error.errors.map(messageOf))].join('; ')
  if (!(error instanceof Error)) return String(error)
  return error.message || error.name
}

/** An error code such as `ENOENT`; undefined when the error has none. */
export function codeOf(error: unknown): string | undefined {
  if (error instanceof AggregateError) return codeOf(error.errors[0])
  if (!(error instanceof Error)) return undefined
  return 'code' in error && typeof error.code === 'string' ? error.code : codeOf(error.cause)
}
