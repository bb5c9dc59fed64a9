import type { Decider } from '../decider.ts'
import type { LicenseEvent } from './events.ts'
import { absentLicense, decideLicense, evolveLicense, type License, type LicenseCommand } from './license.ts'

/** A license, and whether anything but its import has become of it. */
export type UndoableLicense = { license: License; importedAt: string | null; used: boolean }

/** A command that reverses something, without what the stream itself tells. */
export type ReverseCommand =
  | Extract<LicenseCommand, { type: 'UndoRevocation' | 'ReseatDevice' }>
  | { type: 'TakeBackImport'; reason: string | null; at: string }

/** The rules of license streams for what reverses an earlier change, which depends on what happened since. */
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
    // The devices that came with it were recorded at the same moment.
    used: used || (event.data.at !== since && !isNotUse.has(event.type)),
  }
}

/** What becomes of a license that is not used. */
const isNotUse: ReadonlySet<LicenseEvent['type']> = new Set([
  'LicenseExpired',
  'LicenseFellBack',
  'HolderErased',
  'ImportTakenBack',
])
