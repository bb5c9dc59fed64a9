import { isRecord, isSeconds, type Place } from '../keyset.ts'
import { licenseKeyHash } from '../license-key.ts'
import { verifySettings } from '../settings.ts'
import { type Facts, type HeldLicense, type HeldSettings, seatFrom } from './facts.ts'
import { takesAway } from './held.ts'
import { fileIn } from './offline/facts.ts'
import { type Doubt, isRefusal, type Proof, verifyProof } from './proof.ts'
import { timeOf } from './state.ts'
import { notCoveredIn } from './updates.ts'

/** What became of an answer: `fresh` and `same` show that the server was reached, `stale` is an older answer. */
export type Taken = { facts: Facts; as: 'fresh' | 'same' | 'stale' }

type Held = Pick<HeldLicense, 'key' | 'instanceId' | 'relay'>

/**
 * Takes the lease or the refusal of an answer, if it is genuine and newer than what is held.
 * @param now Unix seconds by the clock of the device
 */
export function takeProof(
  facts: Facts,
  answer: unknown,
  { key, instanceId, relay }: Held,
  place: Place,
  now: number,
): Taken | { doubt: Doubt } {
  const body = isRecord(answer) ? answer : {}
  const holder = { ...place, licenseKeyHash: licenseKeyHash(key), instanceId }
  const found = verifyProof(body.refusal ?? body.lease2 ?? body.lease, holder, facts.keys)
  if ('doubt' in found) return found
  const { proof } = found
  const held =
    facts.license?.instanceId === instanceId && facts.license.key === key ? facts.license : undefined
  const as = ageOf(proof, held?.proof, facts)
  if (as !== 'fresh') return { facts, as }
  const expiresAt = isSeconds(body.license_expires_at) ? body.license_expires_at : null
  const graceUntil = isSeconds(body.grace_until) ? body.grace_until : undefined
  // Who was refused still had a floating seat, and may take another.
  const seat = seatFrom(body.seat) ?? (isRefusal(proof) ? held?.seat : undefined)
  const license = { key, instanceId, proof, expiresAt, graceUntil, seat, relay }
  const signedAt = Math.max(facts.signedAt, proof.issuedAt)
  const isLater = !isRefusal(proof) && proof.issuedAt > (held?.proof?.issuedAt ?? -1)
  const seen = Math.max(proof.issuedAt, now, isLater ? 0 : facts.seen)
  const left = signedAt > facts.signedAt ? [] : leftBy(facts, instanceId)
  const offline = held ? facts.offline : offlineWithout(facts)
  return { facts: { ...facts, license, left, offline, signedAt, seen }, as }
}

/** When the license is forgotten or replaced, a file that it has taken away stays so. */
function offlineWithout({ license, offline }: Facts): Facts['offline'] {
  const file = fileIn(offline)
  const isTaken = offline && file && license?.proof && takesAway(license.proof, file)
  return isTaken ? { ...offline, released: file.serial } : offline
}

/** Notes what the server says of a build that the license does not cover. Unsigned, it changes nothing else. */
export function takeNotCovered(facts: Facts, answer: unknown): Facts {
  const { license } = facts
  return license ? { ...facts, license: { ...license, notCovered: notCoveredIn(answer) } } : facts
}

/** The instances that are given up when this one is held. */
function leftBy({ left, license }: Facts, instanceId?: string): readonly string[] {
  return license && license.instanceId !== instanceId ? [...left, license.instanceId] : left
}

function ageOf(offered: Proof, held: Proof | undefined, { left, signedAt }: Facts): Taken['as'] {
  if (!held) {
    const isOld = offered.issuedAt === signedAt && left.includes(offered.instanceId)
    return isOld || offered.issuedAt < signedAt ? 'stale' : 'fresh'
  }
  if (offered.issuedAt !== held.issuedAt) return offered.issuedAt > held.issuedAt ? 'fresh' : 'stale'
  // Of the same second, the one that grants less counts.
  const [one, other] = [strictness(offered), strictness(held)]
  if (one === other) return serialOf(offered) > serialOf(held) ? 'fresh' : 'same'
  return one > other ? 'fresh' : 'stale'
}

const serialOf = (proof: Proof): number => ('serial' in proof ? proof.serial : 0)

function strictness(proof: Proof): number {
  if (isRefusal(proof)) return 3
  return proof.status === 'active' ? 0 : proof.status === 'fallback' ? 1 : 2
}

/**
 * Takes the settings of an answer: signed ones when they are genuine, current and not older than those that are held,
 * unsigned ones only for the free tier, and not while signed ones are valid.
 */
export function takeSettings(
  facts: Facts,
  answer: unknown,
  place: Place,
  now: number,
  enforce: boolean,
): Taken | { doubt: string } {
  const { settings: held, keys } = facts
  // By the clock as it is now: a time that was seen while it was wrong by years would refuse all settings after it.
  const verified = verifySettings(answer, place, { keys }, now, { enforce })
  if (!verified.ok) return { doubt: verified.reason }
  const { kid, issued_at: issuedAt, expires_at: expiresAt } = answer as Record<string, unknown>
  const { freeTierEnabled, trialDurationDays } = verified.settings
  if (trialDurationDays === undefined) {
    if (held && held.expiresAt >= timeOf(facts, now)) return { facts, as: 'stale' }
    return withSettings(facts, { ...held, freeTierEnabled, issuedAt: 0, expiresAt: 0 }, now)
  }
  if (!isSeconds(issuedAt) || !isSeconds(expiresAt)) return { doubt: 'malformed' }
  if (held && issuedAt < held.issuedAt) return { facts, as: 'stale' }
  const { trial_duration_days, free_tier_enabled, signature } = answer as Record<string, unknown>
  const signed = {
    trial_duration_days,
    free_tier_enabled,
    kid,
    issued_at: issuedAt,
    expires_at: expiresAt,
    signature,
  }
  return withSettings(facts, { freeTierEnabled, trialDurationDays, signed, issuedAt, expiresAt }, now)
}

/** Without a license, newer settings begin the observation of the clock anew, as a newer lease does. */
function withSettings(facts: Facts, settings: HeldSettings, now: number): Taken {
  const newer = !facts.license && settings.issuedAt > (facts.settings?.issuedAt ?? 0)
  const seen = newer ? Math.max(settings.issuedAt, now) : facts.seen
  return { facts: { ...facts, settings, seen }, as: 'fresh' }
}

/** Begins the trial of this machine, unless one was begun before. It ends by the time that was already seen, also if the clock is set back. */
export const beginTrial = (facts: Facts, now: number): Facts => ({
  ...facts,
  trial: facts.trial ?? { startedAt: timeOf(facts, now), used: false, reported: false },
})

/** Takes what the server knows of the trial of this machine. Fields that are absent mean that it has no opinion. */
export function takeTrial(facts: Facts, answer: unknown): Facts {
  const { trial } = facts
  if (!trial || !isRecord(answer)) return facts
  const { trial_started_at: startedAt, trial_already_used: used } = answer
  return {
    ...facts,
    trial: {
      startedAt: isSeconds(startedAt) ? startedAt : trial.startedAt,
      used: typeof used === 'boolean' ? used : trial.used,
      reported: true,
    },
  }
}

/** Notes the time of the device's clock, so that setting it back is noticed. */
export const notice = (facts: Facts, now: number): Facts =>
  now > facts.seen ? { ...facts, seen: now } : facts

/** Notes that the floating seat is given back: its lease does not count any more, and the license stays. */
export const withoutSeat = (facts: Facts): Facts => {
  const { license } = facts
  return license
    ? { ...facts, license: { ...license, proof: undefined, seat: undefined, isAway: true } }
    : facts
}

/** Gives an instance up: neither a lease nor a file for it counts any more. */
export function leave(facts: Facts, instanceId: string): Facts {
  const isHeld = facts.license?.instanceId === instanceId
  const offline = isHeld ? offlineWithout(facts) : facts.offline
  const file = fileIn(offline)
  const isOfFile = offline && file?.instanceId === instanceId
  return {
    ...facts,
    ...(isHeld && { license: undefined, left: leftBy(facts) }),
    offline: isOfFile ? { ...offline, released: file.serial } : offline,
  }
}
