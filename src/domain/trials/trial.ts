import type { Decider } from '../decider.ts'
import { expiryAfter, unixSeconds, wholeSeconds } from '../licenses/expiry.ts'
import type { TrialEvent } from './events.ts'

/** What an app without a license says of itself. */
export const installStates = ['trial', 'free_tier', 'expired'] as const
export type InstallState = (typeof installStates)[number]

/** What is known of a machine; nothing before its first event. */
export type Trial =
  | { status: 'unknown' }
  | {
      status: 'known'
      tenantId: string
      productId: string
      /** When it first started a trial; null when only its sharing has been noticed. */
      startedAt: string | null
      sharedAt: string | null
    }

/** Somebody on the machine has reported. */
export type TrialCommand = {
  tenantId: string
  productId: string
  state: InstallState
  /** How many installs have been seen on the machine, this one included; counted only as far as it matters. */
  installs: number
  at: string
}

export const unknownMachine: Trial = { status: 'unknown' }

/** More than so many installs on one machine are implausible. */
export const mostInstalls = 20

const window = { count: 18, unit: 'month' } as const

/** Whether the ledger still has an entry for the machine: one that is 18 months old, to the moment, and not older. */
function isLive(startedAt: string | null, now: string): startedAt is string {
  return startedAt !== null && now <= expiryAfter(startedAt, window)
}

/** What was last heard of before this says nothing about now. */
export const oldestLiveEntry = (now: string): string =>
  expiryAfter(now, { count: -window.count, unit: window.unit })

/**
 * The first report of a trial starts it; later ones change nothing until the entry is too old, and then a new one
 * begins. Never refuses.
 */
export function decideTrial(trial: Trial, command: TrialCommand): TrialEvent[] {
  const { tenantId, productId, state, installs, at } = command
  const { startedAt, sharedAt } = trial.status === 'known' ? trial : nothing
  const events: TrialEvent[] = []
  if (state === 'trial' && !isLive(startedAt, at)) {
    events.push({ type: 'TrialStarted', data: { tenantId, productId, at } })
  }
  if (installs > mostInstalls && sharedAt === null) {
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

/** What a device is told. */
export type TrialStatus = { startedAt: number; alreadyUsed: boolean }

/**
 * What the ledger says of a machine's trial now; undefined when it has no live entry.
 * @param days how long a trial of the product is; undefined when that was never configured, so that nobody knows
 *   here whether one has run out
 */
export function trialStatusOf(trial: Trial, days: number | undefined, now: string): TrialStatus | undefined {
  if (trial.status === 'unknown') return undefined
  const { startedAt, sharedAt } = trial
  if (!isLive(startedAt, now)) return undefined
  // Of a hash that many share, nobody knows whose trial it was: it is nobody's.
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
