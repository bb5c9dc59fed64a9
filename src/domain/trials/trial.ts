import type { Decider } from '../decider.ts'
import { expiryAfter, unixSeconds, wholeSeconds } from '../licenses/expiry.ts'
import type { TrialEvent } from './events.ts'

/** The state that an app without a license reports. */
export const installStates = ['trial', 'free_tier', 'expired'] as const
export type InstallState = (typeof installStates)[number]

/** What is known of a machine. */
export type Trial =
  | { status: 'unknown' }
  | {
      status: 'known'
      tenantId: string
      productId: string
      /** When its first trial started; null when only the shared hash is known. */
      startedAt: string | null
      sharedAt: string | null
    }

/** A report of an install on the machine. */
export type TrialCommand = {
  tenantId: string
  productId: string
  state: InstallState
  /**
   * How many installs were seen on the machine, including this one; not counted further than the rules need.
   */
  installs: number
  at: string
}

export const unknownMachine: Trial = { status: 'unknown' }

/** More installs than this on one machine are implausible. */
export const maxInstalls = 20

const window = { count: 18, unit: 'month' } as const

/** Whether the ledger still counts the trial: until exactly 18 months after its start. */
function isLive(startedAt: string | null, now: string): startedAt is string {
  return startedAt !== null && now <= expiryAfter(startedAt, window)
}

/** Reports before this moment no longer count. */
export const oldestLiveEntry = (now: string): string =>
  expiryAfter(now, { count: -window.count, unit: window.unit })

/**
 * The first report of a trial starts it. Later ones change nothing until the trial is 18 months old; then a
 * new one begins. Never refuses.
 */
export function decideTrial(trial: Trial, command: TrialCommand): TrialEvent[] {
  const { tenantId, productId, state, installs, at } = command
  const { startedAt, sharedAt } = trial.status === 'known' ? trial : nothing
  const events: TrialEvent[] = []
  if (state === 'trial' && !isLive(startedAt, at)) {
    events.push({ type: 'TrialStarted', data: { tenantId, productId, at } })
  }
  if (installs > maxInstalls && sharedAt === null) {
    events.push({ type: 'MachineFoundShared', data: { tenantId, productId, installs, at } })
  }
  return events
}

/** Never refuses: what is recorded has happened. */
export function evolveTrial(trial: Trial, event: TrialEvent): Trial {
  const { tenantId, productId, at } = event.data
  const { startedAt, sharedAt } = trial.status === 'known' ? trial : nothing
  const known = { status: 'known', tenantId, productId, startedAt, sharedAt } as const
  return event.type === 'TrialStarted'
    ? { ...known, startedAt: wholeSeconds(at) }
    : { ...known, sharedAt: at }
}

/** What an app learns about the trial of its device. */
export type TrialStatus = { startedAt: number; alreadyUsed: boolean }

/**
 * The trial of a machine now; undefined when the ledger has no live entry.
 * @param days the length of the product's trial; undefined when it was never configured, so that the end is
 *   unknown
 */
export function trialStatusOf(trial: Trial, days: number | undefined, now: string): TrialStatus | undefined {
  if (trial.status === 'unknown') return undefined
  const { startedAt, sharedAt } = trial
  if (!isLive(startedAt, now)) return undefined
  // If many machines share the hash, it is unknown whose trial it was, so it counts for none of them.
  const hasRunOut = days !== undefined && now >= expiryAfter(startedAt, { count: days, unit: 'day' })
  return { startedAt: unixSeconds(startedAt), alreadyUsed: hasRunOut && sharedAt === null }
}

const nothing = { startedAt: null, sharedAt: null }

/** The rules of trial streams, one for each machine and product. */
export const trials: Decider<Trial, TrialCommand, 'trial'> = {
  category: 'trial',
  initial: unknownMachine,
  decide: decideTrial,
  evolve: evolveTrial,
}
