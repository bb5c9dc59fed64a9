import type { LicenseEvent, LicenseTerms } from './events.ts'

/** When a license's end is near, before its vendor has chosen days: for webhooks alone. */
export const usualNoticeDays: readonly number[] = [14, 3]

/** The notices of a license's end that are recorded. */
export type Noticed = {
  /** The expiry that the last notice was of; null before the first. */
  noticedEnd: string | null
  /** How many days before that expiry it was due. */
  noticedDays: number | null
}

export const noNotice: Noticed = { noticedEnd: null, noticedDays: null }

/** @param days before the expiry, in any order; @param mail whether the product mails its customers */
export type NoticeExpiry = { type: 'NoticeExpiry'; days: readonly number[]; mail: boolean; at: string }

type Noticeable = Noticed &
  Pick<LicenseTerms, 'expiresAt' | 'holder'> & { revokedAt: string | null; suspendedAt: string | null }

const dayMs = 86_400_000

/**
 * The nearest notice that is due: of several that are overdue, the others say nothing new any more. Returning no events means
 * that it is recorded, or that there is none, as for a license that was renewed, revoked or suspended meanwhile.
 */
export function noticed(license: Noticeable, { days, mail, at }: NoticeExpiry): LicenseEvent[] {
  const { expiresAt, revokedAt, suspendedAt, noticedEnd, noticedDays } = license
  if (expiresAt === null || revokedAt !== null || suspendedAt !== null || at >= expiresAt) return []
  const leftMs = Date.parse(expiresAt) - Date.parse(at)
  const due = days.filter((count) => leftMs <= count * dayMs)
  if (due.length === 0) return []
  const daysBefore = Math.min(...due)
  if (noticedEnd === expiresAt && noticedDays !== null && noticedDays <= daysBefore) return []
  return [{ type: 'LicenseExpiring', data: { expiresAt, daysBefore, ...toldByMail(license, mail), at } }]
}

/** Recorded with what the holder is told by mail, if there is an address. */
export const toldByMail = ({ holder }: Pick<LicenseTerms, 'holder'>, mail: boolean): { mail?: true } =>
  mail && (holder?.email ?? null) !== null ? { mail: true } : {}
