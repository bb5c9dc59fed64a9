import { forgetRecordedAttempts } from '../../projections/deliveries/begun.ts'
import { listPendingDeliveries, type PendingDelivery } from '../../projections/deliveries/due.ts'
import { listSpentKeys, listSpentMailedKeys } from '../../projections/deliveries/keys.ts'
import { createWakeSignal } from '../async/wake-signal.ts'
import { catchUpWithLog, waitOnce } from '../commands/cross-stream/read-models.ts'
import { destroySpentKey, scheduleDelivery } from '../commands/deliveries.ts'
import { momentOf } from '../commands/origin.ts'
import { mailNameOf, publicNameOf } from '../domain/deliveries/outbox.ts'
import { mailedKeyPrefix, saleKeyPrefix } from '../domain/licenses/keys.ts'
import type { LogEntry } from '../domain/recorded.ts'
import type { Ports } from '../ports.ts'
import type { Poller } from './poller.ts'
import { type Failure, originOfProcess, processOf } from './process-manager.ts'

type OnFailure = (failure: Failure) => void

/** What schedules deliveries. */
type SchedulePorts = Ports<'db' | 'deriveId' | 'execute' | 'keyTypes' | 'ledger' | 'now' | 'untilVisible'>

/**
 * Schedules every pending delivery. They are in a read model that is written in the same transaction as the
 * event's other effects, so that none is lost in a crash.
 */
export function scheduleDeliveries(
  ports: SchedulePorts,
  onFailure: OnFailure,
): Poller & { onEntry(entry: LogEntry): void } {
  const wakeSignal = createWakeSignal()
  let latest = -1n
  const schedule = (
    steps: Ports<'deriveId' | 'execute' | 'now'>,
    { eventId, correlationId, ...pending }: PendingDelivery,
  ) => scheduleDelivery(steps, pending, { ...originOfProcess(), causationId: eventId, correlationId })
  const process = processOf<PendingDelivery>(ports, onFailure, {
    name: 'deliveries.schedule',
    everyMs: 500,
    lanes: 16,
    most: 500,
    async due(wanted) {
      if (latest >= 0n) await ports.untilVisible(latest)
      return listPendingDeliveries(ports.db, wanted)
    },
    idOf: ({ licenseId }) => licenseId,
    advance: (pending) => schedule(ports, pending),
    around: (work) => waitOnce(ports, (steps) => work((pending) => schedule(steps, pending))),
    wakeSignal,
  })
  return {
    ...process,
    onEntry(entry) {
      if (!entry.readable || entry.category !== 'license') return
      if ((publicNameOf(entry.event) ?? mailNameOf(entry.event)) === undefined) return
      latest = entry.position
      wakeSignal.wake()
    },
  }
}

/** Destroys the keys of sales that are no longer needed, if no dispatcher did so. */
export const destroySpentKeys = (
  ports: Ports<'db' | 'ledger' | 'now' | 'secrets'>,
  onFailure: OnFailure,
): Poller =>
  processOf<{ tenantId: string; licenseId: string }>(ports, onFailure, {
    name: 'deliveries.clear',
    everyMs: 60_000,
    most: 1000,
    due: (wanted) => listSpentKeys(ports.db, saleKeyPrefix, momentOf(ports), wanted),
    idOf: ({ licenseId }) => licenseId,
    advance: ({ tenantId, licenseId }) => destroySpentKey(ports, tenantId, licenseId),
  })

/** Destroys keys that were sealed to be mailed and are no longer needed, also those of requests that failed. */
export const destroySpentMailedKeys = (
  ports: Ports<'db' | 'ledger' | 'now' | 'secrets' | 'untilVisible'>,
  onFailure: OnFailure,
): Poller =>
  processOf<{ tenantId: string; name: string }>(ports, onFailure, {
    name: 'deliveries.clear_mailed',
    everyMs: 60_000,
    most: 1000,
    async due(wanted) {
      // A mail that the read models do not show yet must not lose its key.
      await catchUpWithLog(ports)
      return listSpentMailedKeys(ports.db, mailedKeyPrefix, momentOf(ports), wanted)
    },
    idOf: ({ name }) => name,
    advance: ({ tenantId, name }) => ports.secrets.destroy(tenantId, name),
  })

/** Deletes the notes of attempts that have begun, once their results are recorded. */
export const forgetBegunAttempts = ({ db }: Ports<'db'>): Poller => ({
  name: 'deliveries.clear_begun',
  everyMs: 60_000,
  poll: () => forgetRecordedAttempts(db),
})
