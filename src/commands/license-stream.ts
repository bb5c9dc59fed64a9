import { absentLicense, evolveLicense, type License } from '../domain/license/license.ts'
import { folding } from '../domain/recorded.ts'
import type { Loaded } from '../ledger/handle.ts'
import type { Ledger } from '../ledger/ledger.ts'
import { loadFromLog } from '../ledger/load.ts'

/** Folds a license's whole stream: for the rare case in which its row cannot be decided on. */
export function loadLicense(ledger: Ledger, stream: string): Promise<Loaded<License>> {
  return loadFromLog(ledger, stream, absentLicense, folding('license', evolveLicense))
}

/** The license as its first event made it. */
export async function issuedAs(ledger: Ledger, stream: string): Promise<License> {
  for await (const entry of ledger.readStream(stream, 1)) {
    if (entry.readable && entry.category === 'license') return evolveLicense(absentLicense, entry.event)
  }
  return absentLicense
}
