import { Refusal } from '../refusal.ts'
import type { LicenseEvent, LicenseTerms } from './events.ts'

/** The state of a license that decides what can be undone. */
type Undoable = Pick<LicenseTerms, 'source'> & {
  revokedAt: string | null
  refundedAt: string | null
  takenBackAt: string | null
}

/** The changes of a license that can be undone, each by a new event. */
export type UndoCommand =
  /** @param keyTypeIsThere whether the product still has the license's key type */
  | { type: 'UndoRevocation'; reason: string | null; keyTypeIsThere: boolean; at: string }
  /** @param used whether the license has changed since it was imported */
  | { type: 'TakeBackImport'; reason: string | null; used: boolean; at: string }

/** The reason of the revocation that the list of licenses shows after an import was undone. */
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
      // After a won dispute, the sale reinstates the license itself.
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
