import type { Decider } from '../decider.ts'
import { isUse } from './event-traits.ts'
import type { LicenseEvent } from './events.ts'
import { absentLicense, decideLicense, evolveLicense, type License, type LicenseCommand } from './license.ts'

/** A license, and whether it has changed since its import. */
export type UndoableLicense = { license: License; importedAt: string | null; used: boolean }

/** A command that undoes a change, without what the stream itself shows. */
export type ReverseCommand =
  | Extract<LicenseCommand, { type: 'UndoRevocation' | 'ReseatDevice' }>
  | { type: 'TakeBackImport'; reason: string | null; at: string }

/** The rules of license streams for undoing an earlier change, which depends on what happened since. */
export const undoableLicenses: Decider<UndoableLicense, ReverseCommand, 'license'> = {
  category: 'license',
  initial: { license: absentLicense, importedAt: null, used: false },
  decide: ({ license, used }, command) =>
    decideLicense(license, command.type === 'TakeBackImport' ? { ...command, used } : command),
  evolve: evolveUndoable,
}

function evolveUndoable(
  { license, importedAt, used }: UndoableLicense,
  event: LicenseEvent,
): UndoableLicense {
  const isImport = event.type === 'LicenseImported'
  const since = isImport ? event.data.at : importedAt
  return {
    license: evolveLicense(license, event),
    importedAt: since,
    // The devices of an import were recorded at the same moment.
    used: used || (event.data.at !== since && isUse(event)),
  }
}
