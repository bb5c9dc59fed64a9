import { listNotMinted, type TakenLicense } from '../../projections/resellers.ts'
import { returnNotMinted } from '../commands/resellers/licenses.ts'
import type { Ports } from '../ports.ts'
import type { Poller } from './poller.ts'
import { type Failure, originOfProcess, processOf } from './process-manager.ts'

/** An hour longer than a request can be repeated with its Idempotency-Key, which alone mints a license with the same id. */
const returnedAfterMs = 25 * 3_600_000

/** Gives back what resellers took from a quota for licenses that were never minted, because a process died in between. */
export const returnLicensesNotMinted = (
  ports: Ports<'db' | 'execute' | 'ledger' | 'now'>,
  onFailure: (failure: Failure) => void,
): Poller =>
  processOf<TakenLicense>(ports, onFailure, {
    name: 'resellers.return',
    everyMs: 600_000,
    due: (wanted) =>
      listNotMinted(ports.db, new Date(ports.now().getTime() - returnedAfterMs).toISOString(), wanted),
    idOf: ({ licenseId }) => licenseId,
    advance: (taken) => returnNotMinted(ports, taken, originOfProcess()),
  })
