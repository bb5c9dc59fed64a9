import { noticeSharing } from '../commands/licenses/sharing.ts'
import { momentOf } from '../commands/origin.ts'
import type { Ports } from '../ports.ts'
import { type DueSharing, forgetSightings, listSharedPlaces, listSharedSeats } from '../usage/sharing.ts'
import { shuffled } from './expiries.ts'
import type { Poller } from './poller.ts'
import { type Failure, originOfProcess, processOf } from './process-manager.ts'

type SharingPorts = Ports<'db' | 'execute' | 'findLicenseById' | 'ledger' | 'now'>
type Options = { most?: number; onFailure: (failure: Failure) => void }

/** Records which licenses were used from too many places. A process that dies records it at the next poll, as long as the day counts. */
export const noticeSharedPlaces = (ports: SharingPorts, options: Options): Poller =>
  notices(ports, options, { name: 'licenses.shared_places', everyMs: 60_000, list: listSharedPlaces })

/** Records whose seats moved to other devices too often. Reads the history of many licenses, and nothing depends on the minute. */
export const noticeSharedSeats = (ports: SharingPorts, options: Options): Poller =>
  notices(ports, options, { name: 'licenses.shared_seats', everyMs: 600_000, list: listSharedSeats })

const notices = (
  ports: SharingPorts,
  { most = 500, onFailure }: Options,
  { list, ...process }: { name: string; everyMs: number; list: typeof listSharedPlaces },
): Poller =>
  processOf<DueSharing>(ports, onFailure, {
    ...process,
    lanes: 4,
    most,
    due: async (wanted) => shuffled(await list(ports.db, { now: momentOf(ports), ...wanted })),
    idOf: ({ licenseId }) => licenseId,
    advance: (due) => noticeSharing(ports, due, originOfProcess()),
  })

/** Deletes from where seats were used, after 30 days. */
export const forgetPlaces = (ports: Ports<'db' | 'now'>): Poller => ({
  name: 'licenses.forget_places',
  everyMs: 3_600_000,
  poll: () => forgetSightings(ports.db, momentOf(ports)),
})
