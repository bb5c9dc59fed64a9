import { isActive, type State, type WithdrawnReason } from './states.ts'

/** What has happened to the license, for a message to the user of the app. */
export type Notice =
  /** It goes on for longer than was known, or again after its end; null for ever. */
  | { notice: 'renewed'; licenseExpiresAt: number | null }
  /** It is good again after it was withdrawn, or was not good here. */
  | { notice: 'restored' }
  | { notice: 'revoked'; reason: WithdrawnReason }
  /** It ends soon. This is told once in a run of the app for each end. */
  | { notice: 'expiring'; licenseExpiresAt: number }

/** A state, and when it was looked at: Unix seconds. */
export type Look = { state: State; at: number }

const day = 86_400

/**
 * What is to be told of two looks at the state, one after the other.
 * @param expiringDays how many days before its end a license ends soon
 */
export function noticesOf(before: Look, after: Look, expiringDays: number): Notice[] {
  const changed = changeOf(before.state, after.state)
  const licenseExpiresAt = soonOver(after, expiringDays)
  const isTold = licenseExpiresAt === undefined || licenseExpiresAt === soonOver(before, expiringDays)
  return [
    ...(changed ? [changed] : []),
    ...(isTold ? [] : [{ notice: 'expiring' as const, licenseExpiresAt }]),
  ]
}

function changeOf(before: State, after: State): Notice | undefined {
  if (after.status === 'revoked')
    return hadLicense(before) ? { notice: 'revoked', reason: after.reason } : undefined
  const [was, is] = [endOfActive(before), endOfActive(after)]
  if (is !== undefined && (was === undefined ? hadEnded(before) : isLater(is, was)))
    return { notice: 'renewed', licenseExpiresAt: is }
  return 'entitlements' in after && wasAway(before) ? { notice: 'restored' } : undefined
}

/** When the license of an active lease or file ends: null for never, undefined in every other state. */
const endOfActive = (state: State): number | null | undefined =>
  isActive(state) ? state.licenseExpiresAt : undefined

const isLater = (one: number | null, other: number | null): boolean =>
  other !== null && (one === null || one > other)

/** Whether the license itself had come to its end. */
const hadEnded = (state: State): boolean =>
  ('entitlements' in state && !isActive(state)) || (state.status === 'expired' && state.of === 'license')

/** Whether there was a license, and it was not good here. */
const wasAway = ({ status, ...more }: State): boolean =>
  ['revoked', 'not_covered', 'another_device'].includes(status) || (status === 'expired' && 'allowed' in more)

const hadLicense = (state: State): boolean =>
  'entitlements' in state || hadEnded(state) || (state.status !== 'revoked' && wasAway(state))

/** The end of an active license that is near, and has not come. */
function soonOver({ state, at }: Look, expiringDays: number): number | undefined {
  const end = endOfActive(state)
  return typeof end === 'number' && at >= end - expiringDays * day && at < end ? end : undefined
}
