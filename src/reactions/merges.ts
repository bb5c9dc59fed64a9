import { type LicenseToMove, listLicensesToMove } from '../../projections/merges.ts'
import { moveLicense } from '../commands/customers/merging.ts'
import type { Ports } from '../ports.ts'
import type { Poller } from './poller.ts'
import { type Failure, originOfProcess, processOf } from './process-manager.ts'

/**
 * Moves the licenses of merged customers, and those of unmerged ones back: what a request left, and what such a customer got since, as by its address.
 */
export const followMerges = (
  ports: Ports<'db' | 'execute' | 'ledger' | 'now'>,
  onFailure: (failure: Failure) => void,
): Poller =>
  processOf<LicenseToMove>(ports, onFailure, {
    name: 'customers.merges',
    everyMs: 2000,
    lanes: 4,
    due: (wanted) => listLicensesToMove(ports.db, wanted),
    idOf: ({ licenseId }) => licenseId,
    advance: (license) => moveLicense(ports, license, originOfProcess()),
  })
