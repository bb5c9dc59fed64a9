import type { PortalLanguage } from '../portal/languages.ts'
import { Refusal } from '../refusal.ts'
import type { LicenseEvent, LicenseTerms } from './events.ts'
import { type Why, withReason } from './reasons.ts'

export type SendKey = { type: 'SendKey'; at: string } & MailLanguage & Why

/** The language of the page on which the customer asked for the mail. */
export type MailLanguage = { language?: PortalLanguage | undefined }

type MailedLicense = Pick<LicenseTerms, 'keyHash' | 'holder'> & {
  revokedAt: string | null
  /** When its vendor last asked to mail the key to its holder. */
  keyMailAskedAt: string | null
}

/** @throws Refusal `license_without_address` when the key is to be sent and the license has no address */
export function keyMail(
  { holder, keyHash, at }: Pick<LicenseTerms, 'holder' | 'keyHash' | 'at'>,
  { sendKey = false, language }: { sendKey?: boolean } & MailLanguage,
): LicenseEvent[] {
  if (!sendKey) return []
  if ((holder?.email ?? null) === null) throw new Refusal('license_without_address')
  return [{ type: 'KeyMailAsked', data: { keyHash, ...(language && { language }), at } }]
}

const betweenMailsMs = 5 * 60_000

/** The present key is sent again: at most once in five minutes, so that no mailbox is flooded. */
export function keySent(license: MailedLicense, command: SendKey): LicenseEvent[] {
  if (license.revokedAt !== null) throw new Refusal('license_revoked')
  const { keyHash, holder, keyMailAskedAt } = license
  const { at } = command
  const events = keyMail({ holder, keyHash, at }, { sendKey: true, language: command.language })
  const sinceMs = keyMailAskedAt === null ? betweenMailsMs : Date.parse(at) - Date.parse(keyMailAskedAt)
  // A clock that was set back must not lengthen the pause.
  const waitMs = Math.min(betweenMailsMs, betweenMailsMs - sinceMs)
  if (waitMs > 0) throw new Refusal('key_mailed_recently', Math.ceil(waitMs / 1000))
  return events.flatMap((event) => withReason(event, command))
}
