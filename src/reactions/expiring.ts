import { type DueNotice, listDueNotices } from '../../projections/licenses/expiries.ts'
import { noticeExpiry } from '../commands/licenses/ends.ts'
import { momentOf } from '../commands/origin.ts'
import { usualNoticeDays } from '../domain/licenses/notices.ts'
import type { Ports } from '../ports.ts'
import { shuffled } from './expiries.ts'
import type { Poller } from './poller.ts'
import { type Failure, originOfProcess, processOf } from './process-manager.ts'

/**
 * Records that licenses are about to expire, so many days before as their product or an endpoint wants to know. Mails and webhooks
 * follow from the event. A notice is of days, so a poll each minute is soon enough; one that was due while no process ran is recorded by
 * the first poll, unless a nearer one is due by then.
 */
export const noticeExpiries = (
  ports: Ports<'db' | 'execute' | 'findLicenseById' | 'findProduct' | 'ledger' | 'now'>,
  { most = 500, onFailure }: { most?: number; onFailure: (failure: Failure) => void },
): Poller =>
  processOf<DueNotice>(ports, onFailure, {
    name: 'licenses.notice',
    everyMs: 60_000,
    lanes: 8,
    most,
    due: async (wanted) =>
      shuffled(
        await listDueNotices(ports.db, { now: momentOf(ports), usualDays: usualNoticeDays, ...wanted }),
      ),
    idOf: ({ licenseId }) => licenseId,
    advance: (due) => noticeExpiry(ports, due, originOfProcess()),
  })
