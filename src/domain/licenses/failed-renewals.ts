import type { LicenseEvent, LicenseTerms } from './events.ts'
import { toldByMail } from './notices.ts'

/** A payment for the renewal of a license that failed and is still to be paid. */
type FailedRenewal = {
  paymentId: string
  attempt: number | null
  nextAttemptAt: string | null
  /** The number of the sale's fact by which it became known. */
  fact: number
}

/** @param mail whether the product tells the customer */
export type FailedRenewals = { renewals: readonly FailedRenewal[]; mail: boolean }

type Following = Pick<LicenseTerms, 'holder'> & { saleThrough: number; revokedAt: string | null }

/**
 * The failures that became known since the license last followed its sale, so that each payment is recorded once, whatever
 * its number of attempts. None of a revoked license.
 */
export function newlyFailed(
  { holder, saleThrough, revokedAt }: Following,
  { saleId, failed, at }: { saleId: string; failed?: FailedRenewals | undefined; at: string },
): LicenseEvent[] {
  if (failed === undefined || revokedAt !== null) return []
  const told = toldByMail({ holder }, failed.mail)
  return failed.renewals
    .filter(({ fact }) => fact > saleThrough)
    .map(({ paymentId, attempt, nextAttemptAt }) => ({
      type: 'LicenseRenewalFailed',
      data: { saleId, paymentId, attempt, nextAttemptAt, ...told, at },
    }))
}
