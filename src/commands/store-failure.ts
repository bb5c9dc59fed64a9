import { isDatabaseFailure } from '../../projections/database/errors.ts'
import { ReadModelsBehind } from '../../projections/runner/read-models.ts'
import { TimeoutError } from '../async/timeout.ts'
import { LedgerUnavailable } from '../ledger/connection/unavailable.ts'

/** Whether a store did not answer, so that the same may succeed later. */
export const isStoreFailure = (error: unknown): boolean =>
  error instanceof LedgerUnavailable ||
  error instanceof ReadModelsBehind ||
  error instanceof TimeoutError ||
  isDatabaseFailure(error)
