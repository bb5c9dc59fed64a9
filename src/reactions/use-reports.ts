import { reportUses } from '../commands/integrations/use-reports.ts'
import type { Ports } from '../ports.ts'
import { listReportedMeters, type ReportedMeter } from '../usage/use-reports.ts'
import type { Poller } from './poller.ts'
import { type Failure, processOf } from './process-manager.ts'

/**
 * Reports uses to the card provider's meters, where their tenant wants that. A poll each minute makes one report of what was used since
 * the last one.
 */
export const sendUseReports = (
  ports: Ports<'db' | 'ledger' | 'now' | 'providers' | 'secrets'>,
  onFailure: (failure: Failure) => void,
): Poller =>
  processOf<ReportedMeter>(ports, onFailure, {
    name: 'meters.reports',
    everyMs: 60_000,
    lanes: 4,
    most: 500,
    due: (limits) => listReportedMeters(ports.db, limits),
    idOf: ({ stream }) => stream,
    advance: (meter) => reportUses(ports, meter),
  })
