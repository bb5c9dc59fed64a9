import type { Logger } from 'pino'
import type { Config } from '../config.ts'
import type { LogEntry } from '../domain/recorded.ts'
import { createActivity } from '../reactions/activity.ts'
import { mailApprovers } from '../reactions/approval-mails.ts'
import { confirmationProcesses } from '../reactions/confirmations.ts'
import {
  destroySpentKeys,
  destroySpentMailedKeys,
  forgetBegunAttempts,
  scheduleDeliveries,
} from '../reactions/deliveries.ts'
import { resumeErasures } from '../reactions/erasures.ts'
import { recordExpiries } from '../reactions/expiries.ts'
import { noticeExpiries } from '../reactions/expiring.ts'
import { mailInvitations } from '../reactions/invitations.ts'
import { destroyLeftKeys, settleKeptKeys } from '../reactions/kept-keys.ts'
import { followMerges } from '../reactions/merges.ts'
import { closeMeterPeriods, tellOfMeters } from '../reactions/meters.ts'
import { indexPeople } from '../reactions/people-index.ts'
import { followPeople } from '../reactions/person-seats.ts'
import { runPollers } from '../reactions/poller.ts'
import type { Failure } from '../reactions/process-manager.ts'
import { runReplays } from '../reactions/replays.ts'
import { returnLicensesNotMinted } from '../reactions/resellers.ts'
import { resumeSales } from '../reactions/sales.ts'
import { recordSeatEnds } from '../reactions/seats.ts'
import { forgetPlaces, noticeSharedPlaces, noticeSharedSeats } from '../reactions/sharing.ts'
import { createTestPurchaseDriver } from '../reactions/test-purchase-driver.ts'
import { createTestPurchaseRunner, resumeTestPurchases } from '../reactions/test-purchases.ts'
import { sendUseReports } from '../reactions/use-reports.ts'
import { baseUrlOf, sendOverHttp } from './start/own-address.ts'
import type { Stores } from './stores.ts'

export type RunningProcesses = {
  /** Receives each new entry of the log, so that what follows from it is done without a poll. */
  onEntry(entry: LogEntry): void
  finished: Promise<void>
}

/** Runs all process managers until the signal aborts. */
export function startProcesses(
  config: Config,
  { ports, appendGate }: Stores,
  log: Logger,
  signal: AbortSignal,
): RunningProcesses {
  const baseUrl = baseUrlOf(config)
  /** Logs a failed item under its code, with its id in the given field. */
  const logged =
    (code: string, field: string) =>
    ({ id, error: err }: Failure) =>
      log.error({ err, [field]: id }, code)
  const runTestPurchase = createTestPurchaseRunner(
    ports,
    createTestPurchaseDriver(ports, sendOverHttp(baseUrl)),
  )
  const scheduling = scheduleDeliveries(ports, logged('delivery.not_scheduled', 'license'))
  const telling = tellOfMeters(ports, logged('meter.not_told', 'license'))
  const processes = [
    scheduling,
    destroySpentKeys(ports, logged('delivery.key_not_destroyed', 'license')),
    forgetBegunAttempts(ports),
    runReplays(ports, logged('webhook.replay_not_advanced', 'replay')),
    destroySpentMailedKeys(ports, logged('delivery.mailed_key_not_destroyed', 'secret')),
    settleKeptKeys(ports, logged('license.kept_key_not_settled', 'license')),
    destroyLeftKeys(ports, logged('product.kept_keys_not_destroyed', 'product')),
    recordExpiries(ports, { onFailure: logged('license.expiry_not_recorded', 'license') }),
    noticeExpiries(ports, { onFailure: logged('license.expiry_not_noticed', 'license') }),
    telling,
    closeMeterPeriods(ports, logged('meter.period_not_closed', 'meter')),
    recordSeatEnds(ports, { onFailure: logged('license.seat_end_not_recorded', 'license') }),
    noticeSharedPlaces(ports, { onFailure: logged('license.sharing_not_noticed', 'license') }),
    noticeSharedSeats(ports, { onFailure: logged('license.sharing_not_noticed', 'license') }),
    forgetPlaces(ports),
    sendUseReports(ports, logged('meter.not_reported', 'meter')),
    resumeSales(ports, { onFailure: logged('sale.not_advanced', 'sale') }),
    mailInvitations(ports, { baseUrl, onFailure: logged('organization.invitation_not_mailed', 'person') }),
    followPeople(ports, logged('license.person_seat_not_freed', 'seat')),
    followMerges(ports, logged('customer.license_not_moved', 'license')),
    returnLicensesNotMinted(ports, logged('reseller.license_not_returned', 'license')),
    resumeErasures(ports, { onFailure: logged('erasure.not_finished', 'subject') }),
    indexPeople(ports),
    ...confirmationProcesses(ports, {
      onFailure: logged('confirmation.not_executed', 'confirmation'),
    }),
    mailApprovers(ports, {
      baseUrl,
      onFailure: ({ id, error: err }) => log.warn({ err, tenant_id: id }, 'confirmation.not_mailed'),
    }),
    resumeTestPurchases(ports, runTestPurchase, logged('test_purchase.not_run', 'test_purchase')),
  ]
  const onFailure = ({ process: name, error: err }: { process: string; error: unknown }) =>
    log.warn({ err, process_manager: name }, 'process_manager.failed')
  const activity = createActivity()
  const finished = runPollers(processes, signal, onFailure, { untilMayAct: appendGate.untilOpen, activity })
  const onEntry = (entry: LogEntry) => {
    activity.onEntry()
    scheduling.onEntry(entry)
    telling.onEntry(entry)
  }
  return { onEntry, finished }
}
