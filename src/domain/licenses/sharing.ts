import type { LicenseEvent } from './events.ts'
import type { SharingRule } from './sharing-events.ts'

export type SharingEvent = Extract<LicenseEvent, { type: 'LicenseSharingNoticed' | 'LicenseSharingAllowed' }>

export const isOfSharing = (event: LicenseEvent): event is SharingEvent =>
  event.type === 'LicenseSharingNoticed' || event.type === 'LicenseSharingAllowed'

/** What is known of the sharing of a license. */
export type SharingState = {
  /** The last day for which each rule was noticed, and whether that suspended the license. */
  noticed: Partial<Record<SharingRule, { day: string; suspended: boolean }>>
  /** When the last notice was recorded that no one has dealt with; null without one. */
  openSince: string | null
  /** Whether a person allowed this license to be used so. */
  allowed: boolean
}

/** Null as long as nothing was ever noticed or allowed. */
export type Sharing = { sharing: SharingState | null }

export type SharingCommand =
  /** @param suspend whether the product wants the license suspended */
  | ({ type: 'NoticeSharing'; suspend: boolean; at: string } & Finding)
  | { type: 'AllowSharing'; allowed: boolean; reason: string | null; at: string }

/** What was counted of a license for a day. */
export type Finding = { rule: SharingRule; count: number; limit: number | null; day: string }

const nothing: SharingState = { noticed: {}, openSince: null, allowed: false }

/**
 * Records a notice once a day for each rule, and a published key once. A license is suspended for one day at most once, so that one that its
 * vendor resumes stays resumed on that day, whatever else is noticed.
 */
export function decideOnSharing(
  license: Sharing & { revokedAt: string | null; suspendedAt: string | null },
  command: SharingCommand,
): LicenseEvent[] {
  const { noticed, allowed } = license.sharing ?? nothing
  if (command.type === 'AllowSharing') {
    const { type: _, ...data } = command
    return allowed === command.allowed ? [] : [{ type: 'LicenseSharingAllowed', data }]
  }
  if (allowed || license.revokedAt !== null || license.suspendedAt !== null) return []
  const { type: _, suspend, ...found } = command
  const { rule, day, at } = found
  const last = noticed[rule]
  if (last !== undefined && (rule === 'published_key' || last.day >= day)) return []
  const wasSuspended = Object.values(noticed).some((one) => one.suspended && one.day === day)
  const suspends = suspend && !wasSuspended
  return [
    { type: 'LicenseSharingNoticed', data: { ...found, action: suspends ? 'suspend' : 'show' } },
    ...(suspends
      ? [{ type: 'LicenseSuspended', data: { reason: `Key sharing: ${findingWords(found)}`, at } } as const]
      : []),
  ]
}

export function evolveSharing(before: SharingState | null, event: SharingEvent): SharingState {
  const state = before ?? nothing
  if (event.type === 'LicenseSharingAllowed')
    return { ...state, openSince: null, allowed: event.data.allowed }
  const { rule, day, action, at } = event.data
  const noticed = { ...state.noticed, [rule]: { day, suspended: action === 'suspend' } }
  return { ...state, noticed, openSince: at }
}

/** A new key deals with what was noticed: who shared the old one has none, and nothing is known of the new one. */
export function sharingAfterRemint(before: SharingState | null): SharingState | null {
  if (before === null) return null
  const { published_key: _, ...noticed } = before.noticed
  return { ...before, noticed, openSince: null }
}

/** `4 networks in one day, more than 3` */
export function findingWords({ rule, count, limit }: Omit<Finding, 'day'>): string {
  const more = limit === null ? '' : `, more than ${limit}`
  switch (rule) {
    case 'networks':
      return `one seat used from ${counted(count, 'network')} in a day${more}`
    case 'countries':
      return `one seat used from ${counted(count, 'country', 'countries')} in a day${more}`
    case 'hops':
      return `seats moved to other devices ${counted(count, 'time')} in a week${more}`
    case 'published_key':
      return 'its key was found published'
  }
}

const counted = (count: number, one: string, many = `${one}s`): string =>
  `${count} ${count === 1 ? one : many}`
