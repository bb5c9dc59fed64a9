import {
  listLicensesWithNotes,
  listMetersToClose,
  type MeterToClose,
} from '../../projections/meters/notes.ts'
import { createWakeSignal } from '../async/wake-signal.ts'
import { closePeriods } from '../commands/meters/meters.ts'
import { tellUsage } from '../commands/meters/tell.ts'
import { momentOf } from '../commands/origin.ts'
import { isNotable } from '../domain/licenses/metered.ts'
import type { LogEntry } from '../domain/recorded.ts'
import type { Ports } from '../ports.ts'
import { shuffled } from './expiries.ts'
import type { Poller } from './poller.ts'
import { type Failure, originOfProcess, processOf } from './process-manager.ts'

type OnFailure = (failure: Failure) => void

/** Tells in the history of licenses what happened to their meters: webhooks and mails follow from that. */
export function tellOfMeters(
  ports: Ports<'db' | 'execute' | 'findLicenseById' | 'findProduct' | 'ledger' | 'now' | 'untilVisible'>,
  onFailure: OnFailure,
): Poller & { onEntry(entry: LogEntry): void } {
  const wakeSignal = createWakeSignal()
  let latest = -1n
  const process = processOf<{ licenseId: string }>(ports, onFailure, {
    name: 'meters.tell',
    everyMs: 1000,
    lanes: 8,
    most: 500,
    async due(wanted) {
      if (latest >= 0n) await ports.untilVisible(latest)
      return shuffled(await listLicensesWithNotes(ports.db, wanted))
    },
    idOf: ({ licenseId }) => licenseId,
    advance: ({ licenseId }) => tellUsage(ports, licenseId),
    wakeSignal,
  })
  return {
    ...process,
    onEntry(entry) {
      if (!entry.readable || entry.category !== 'meter' || !isNotable(entry.event)) return
      latest = entry.position
      wakeSignal.wake()
    },
  }
}

/**
 * Closes periods of meters in which nothing more can count. Several processes may close one: the later ones find it closed. After a
 * crash the next poll finds what is left.
 */
export const closeMeterPeriods = (
  ports: Ports<'counting' | 'db' | 'ledger' | 'now' | 'untilVisible'>,
  onFailure: OnFailure,
): Poller =>
  processOf<MeterToClose>(ports, onFailure, {
    name: 'meters.close',
    everyMs: 60_000,
    lanes: 8,
    most: 500,
    due: async (wanted) => shuffled(await listMetersToClose(ports.db, { now: momentOf(ports), ...wanted })),
    idOf: ({ id }) => id,
    advance: (due) => closePeriods(ports, due, originOfProcess()),
  })
