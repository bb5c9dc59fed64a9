import type { Logger } from 'pino'
import type { Config } from '../config.ts'
import type { LogEntry } from '../domain/recorded.ts'
import { mailApprovers } from '../processes/approval-mails.ts'
import { confirmationProcesses } from '../processes/confirmations.ts'
import {
  destroySpentKeys,
  destroySpentMailedKeys,
  forgetBegunAttempts,
  scheduleDeliveries,
} from '../processes/deliveries.ts'
import { resumeErasures } from '../processes/erasures.ts'
import { recordExpiries } from '../processes/expiries.ts'
import { destroyLeftKeys, settleKeptKeys } from '../processes/kept-keys.ts'
import { indexPeople } from '../processes/people-index.ts'
import { runPollers } from '../processes/poller.ts'
import type { Failure } from '../processes/process-manager.ts'
import { runReplays } from '../processes/replays.ts'
import { resumeSales } from '../processes/sales.ts'
import { createTestPurchaseDriver } from '../processes/test-purchase-driver.ts'
import { createTestPurchaseRunner, resumeTestPurchases } from '../processes/test-purchases.ts'
import { baseUrlOf, sendOverHttp } from './start/own-address.ts'
import type { Stores } from './stores.ts'

export type RunningProcesses = {
  /** Receives each new entry of the log, so that deliveries are scheduled immediately. */
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
  const processes = [
    scheduling,
    destroySpentKeys(ports, logged('delivery.key_not_destroyed', 'license')),
    forgetBegunAttempts(ports),
    runReplays(ports, logged('webhook.replay_not_advanced', 'replay')),
    destroySpentMailedKeys(ports, logged('delivery.mailed_key_not_destroyed', 'secret')),
    settleKeptKeys(ports, logged('license.kept_key_not_settled', 'license')),
    destroyLeftKeys(ports, logged('product.kept_keys_not_destroyed', 'product')),
    recordExpiries(ports, { onFailure: logged('license.expiry_not_recorded', 'license') }),
    resumeSales(ports, { onFailure: logged('sale.not_advanced', 'sale') }),
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
  const finished = runPollers(processes, signal, onFailure, appendGate.untilOpen)
  return { onEntry: scheduling.onEntry, finished }
}
