import { Refusal } from '../refusal.ts'
import type { LicenseEvent, LicenseTerms } from './events.ts'

/** What of a license decides whether something can be made good. */
type Undoable = Pick<LicenseTerms, 'source'> & {
  revokedAt: string | null
  refundedAt: string | null
  takenBackAt: string | null
}

/** What of a license was done and can be made good, each by a new event. */
export type UndoCommand =
  /** @param keyTypeIsThere whether the product still has the license's key type */
  | { type: 'UndoRevocation'; reason: string | null; keyTypeIsThere: boolean; at: string }
  /** @param used whether anything has become of the license since it was imported */
  | { type: 'TakeBackImport'; reason: string | null; used: boolean; at: string }

/** How an import that was taken back stands in the list of licenses. */
export const takenBackReason = 'import taken back'

/**
 * Returning no events means that the request was already true.
 * @throws Refusal `license_refunded`, `license_key_type_gone`, `import_taken_back`, `license_not_imported`, `license_used`,
 *   `license_revoked`
 */
export function undone(license: Undoable, command: UndoCommand): LicenseEvent[] {
  const { reason, at } = command
  switch (command.type) {
    case 'UndoRevocation':
      if (license.takenBackAt !== null) throw new Refusal('import_taken_back')
      if (license.revokedAt === null) return []
      // Whoever won the money back by a dispute has the license again by that.
      if (license.refundedAt !== null) throw new Refusal('license_refunded')
      if (!command.keyTypeIsThere) throw new Refusal('license_key_type_gone')
      return [{ type: 'RevocationUndone', data: { reason, at } }]
    case 'TakeBackImport':
      if (license.source !== 'import') throw new Refusal('license_not_imported')
      if (license.takenBackAt !== null) return []
      if (license.revokedAt !== null) throw new Refusal('license_revoked')
      if (command.used) throw new Refusal('license_used')
      return [{ type: 'ImportTakenBack', data: { reason, at } }]
  }
}
