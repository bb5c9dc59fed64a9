import { type Look, noticesOf } from '../../../src/sdk/javascript/app/notices.ts'
import type { Bare } from '../../../src/sdk/javascript/app/states.ts'
import { now } from './keys.ts'

const day = 86_400
const expiringDays = 7

const granted = (licenseExpiresAt: number | null) => ({
  by: 'lease' as const,
  ...{ until: now + day, entitlements: ['export'], values: {}, licenseExpiresAt },
})
const licensed = (end: number | null): Bare => ({ status: 'licensed', ...granted(end) })
const offline = (end: number | null): Bare => ({ status: 'offline', license: 'licensed', ...granted(end) })
const fallback: Bare = { status: 'fallback', ...granted(now - day) }
const offlineFallback: Bare = { status: 'offline', license: 'fallback', ...granted(now - day) }
const ended: Bare = { status: 'expired', of: 'license', at: now - day, freeTier: false }
const leaseEnded: Bare = {
  ...{ status: 'expired', of: 'lease', at: now - day, freeTier: false },
  allowed: { entitlements: ['export'], values: {} },
}
const trialEnded: Bare = { status: 'expired', of: 'trial', at: now - day, freeTier: false }
const revoked: Bare = { status: 'revoked', reason: 'suspended', at: now, freeTier: false }
const notCovered: Bare = { status: 'not_covered', updatesUntil: now - day, freeTier: false }
const another: Bare = { status: 'another_device', freeTier: false }
const unlicensed: Bare = { status: 'unlicensed' }
const starting: Bare = { status: 'starting' }
const trial: Bare = { status: 'trial', until: now + day }

const far = now + 300 * day
const near = now + 3 * day

type Case = { name: string; why: string; before: Bare; after: Bare; beforeAt?: number; told: string[] }
const renewed = 'it goes on for longer, or again'
const restored = 'it is good here again'
const withdrawn = 'the user loses what the license grants'
const nothing = 'it is no news about the license'
const soon = 'it ends within seven days'

/** Two states, one after the other, and the notices that a person expects. */
const cases: readonly Case[] = [
  { name: 'a later end', why: renewed, before: licensed(far), after: licensed(far + day), told: ['renewed'] },
  { name: 'for ever', why: renewed, before: licensed(far), after: licensed(null), told: ['renewed'] },
  {
    name: 'a later end, offline before',
    why: renewed,
    before: offline(near),
    after: licensed(far),
    told: ['renewed'],
  },
  { name: 'after the fallback', why: renewed, before: fallback, after: licensed(far), told: ['renewed'] },
  {
    name: 'after the fallback, offline',
    why: renewed,
    before: offlineFallback,
    after: licensed(far),
    told: ['renewed'],
  },
  { name: 'after its end', why: renewed, before: ended, after: licensed(far), told: ['renewed'] },
  { name: 'an earlier end', why: nothing, before: licensed(far), after: licensed(far - day), told: [] },
  {
    name: 'an end where there was none',
    why: nothing,
    before: licensed(null),
    after: licensed(far),
    told: [],
  },
  { name: 'the same', why: nothing, before: licensed(far), after: licensed(far), told: [] },
  { name: 'offline', why: nothing, before: licensed(far), after: offline(far), told: [] },
  { name: 'into the fallback', why: nothing, before: licensed(now), after: fallback, told: [] },
  { name: 'its end', why: nothing, before: licensed(now), after: ended, told: [] },
  { name: 'after a suspension', why: restored, before: revoked, after: licensed(far), told: ['restored'] },
  {
    name: 'after a suspension, in fallback',
    why: restored,
    before: revoked,
    after: fallback,
    told: ['restored'],
  },
  {
    name: 'after a lease that had ended',
    why: restored,
    before: leaseEnded,
    after: licensed(far),
    told: ['restored'],
  },
  { name: 'covered again', why: restored, before: notCovered, after: licensed(far), told: ['restored'] },
  {
    name: 'for this machine again',
    why: restored,
    before: another,
    after: licensed(far),
    told: ['restored'],
  },
  {
    name: 'a lease that had ended, of a license that has',
    why: nothing,
    before: leaseEnded,
    after: ended,
    told: [],
  },
  { name: 'not covered after a suspension', why: nothing, before: revoked, after: notCovered, told: [] },
  { name: 'withdrawn', why: withdrawn, before: licensed(far), after: revoked, told: ['revoked'] },
  {
    name: 'withdrawn while offline',
    why: withdrawn,
    before: offline(far),
    after: revoked,
    told: ['revoked'],
  },
  { name: 'withdrawn in fallback', why: withdrawn, before: fallback, after: revoked, told: ['revoked'] },
  { name: 'withdrawn after its end', why: withdrawn, before: ended, after: revoked, told: ['revoked'] },
  {
    name: 'withdrawn, not covered before',
    why: withdrawn,
    before: notCovered,
    after: revoked,
    told: ['revoked'],
  },
  { name: 'withdrawn before the start', why: nothing, before: starting, after: revoked, told: [] },
  { name: 'still withdrawn', why: nothing, before: revoked, after: revoked, told: [] },
  { name: 'withdrawn, without a license before', why: nothing, before: unlicensed, after: revoked, told: [] },
  { name: 'activated', why: nothing, before: unlicensed, after: licensed(far), told: [] },
  { name: 'activated in the trial', why: nothing, before: trial, after: licensed(far), told: [] },
  { name: 'activated after the trial', why: nothing, before: trialEnded, after: licensed(far), told: [] },
  { name: 'given up', why: nothing, before: licensed(far), after: unlicensed, told: [] },
  { name: 'the start', why: nothing, before: starting, after: licensed(far), told: [] },
  { name: 'a near end at the start', why: soon, before: starting, after: licensed(near), told: ['expiring'] },
  {
    name: 'a near end at the start, offline',
    why: soon,
    before: starting,
    after: offline(near),
    told: ['expiring'],
  },
  {
    name: 'an end that becomes near',
    why: soon,
    before: licensed(near),
    beforeAt: near - 7 * day - 1,
    after: licensed(near),
    told: ['expiring'],
  },
  {
    name: 'an end that is still near',
    why: 'it was told',
    before: licensed(near),
    beforeAt: near - 7 * day,
    after: licensed(near),
    told: [],
  },
  { name: 'an end that has come', why: nothing, before: licensed(now), after: licensed(now), told: [] },
  {
    name: 'another near end',
    why: soon,
    before: licensed(near),
    after: licensed(near - day),
    told: ['expiring'],
  },
  {
    name: 'renewed to a near end',
    why: `${renewed}, but ends soon`,
    before: ended,
    after: licensed(near),
    told: ['renewed', 'expiring'],
  },
  {
    name: 'restored with a near end',
    why: `${restored}, but ends soon`,
    before: revoked,
    after: licensed(near),
    told: ['restored', 'expiring'],
  },
  {
    name: 'the fallback of an end that was near',
    why: nothing,
    before: licensed(near),
    after: { ...fallback, ...granted(near), status: 'fallback' },
    told: [],
  },
]

/** @throws Error where the SDK tells something else than a person expects */
export const notices = () => ({
  expiringDays,
  cases: cases.map(({ name, why, before, after, beforeAt = now - 60, told }) => {
    const look = (state: Bare, at: number): Look => ({ state: { ...state, clockSetBack: false }, at })
    const [first, second] = [look(before, beforeAt), look(after, now)]
    const found = noticesOf(first, second, expiringDays)
    const names = found.map(({ notice }) => notice)
    if (names.join() !== told.join()) throw new Error(`${name}: ${told} expected, and not ${names}`)
    return { name, why, before: first, after: second, notices: found }
  }),
})
