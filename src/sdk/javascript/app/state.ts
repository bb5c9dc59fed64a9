import type { Facts } from './facts.ts'
import { ofHeld, type Present } from './held.ts'
import type { Bare, State } from './states.ts'

/** Corrections of a clock by its time server are no reason to tell anybody. */
const toleranceSeconds = 300
const day = 86_400

/** What a state depends on, besides the facts and the time. What is left out is not known. */
export type Circumstances = Partial<Omit<Present, 'time'>> & {
  /** The length of a trial where the server has never named one. */
  defaultTrialDays?: number | undefined
}

/**
 * The state that stored facts allow. It depends on nothing else.
 * @param facts undefined before the storage was read
 * @param now Unix seconds by the clock of the device
 */
export function stateOf(
  facts: Facts | undefined,
  now: number,
  { failing = false, device, builtAt, defaultTrialDays }: Circumstances = {},
): State {
  if (!facts) return { status: 'starting', clockSetBack: false }
  const time = timeOf(facts, now)
  const held = ofHeld(facts, { time, failing, device, builtAt })
  return { ...(held ?? ofInstall(facts, time, defaultTrialDays)), clockSetBack: isSetBack(facts, now) }
}

/** The time by which leases, files and trials end: never before one that was already seen. */
export const timeOf = ({ seen }: Pick<Facts, 'seen'>, now: number): number => Math.max(seen, now)

/** Whether the clock is behind a time that was seen, by more than a correction. */
const isSetBack = ({ seen }: Pick<Facts, 'seen'>, now: number): boolean => now < seen - toleranceSeconds

function ofInstall({ settings, trial }: Facts, time: number, defaultTrialDays: number | undefined): Bare {
  const days = settings?.trialDurationDays ?? defaultTrialDays
  const free = settings?.freeTierEnabled ?? false
  if (trial) {
    const until = trial.startedAt + (days ?? 0) * day
    if (!trial.used && time < until) return { status: 'trial', until }
    return free ? { status: 'free' } : { status: 'expired', of: 'trial', at: until, freeTier: false }
  }
  const offered = days ? { trialDays: days } : {}
  return { status: free ? 'free' : 'unlicensed', ...offered }
}
