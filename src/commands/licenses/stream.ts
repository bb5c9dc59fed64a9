import {
  absentLicense,
  evolveLicense,
  type IssuedLicense,
  type License,
} from '../../domain/licenses/license.ts'
import type { Ledger } from '../../ledger/ledger.ts'
import type { Loaded } from '../../ledger/execute.ts'

/** The license after its first event. */
export async function issuedAs(ledger: Ledger, stream: string): Promise<License> {
  for await (const entry of ledger.readStream(stream, 1)) {
    if (entry.readable && entry.category === 'license') return evolveLicense(absentLicense, entry.event)
  }
  return absentLicense
}

/** The state of a license from a row of a read model, for a decision. */
export const stateOf = ({
  license,
  revision,
}: {
  license: IssuedLicense
  revision: number
}): Loaded<License> => ({ state: license, revision })
