import {
  listApprovedOfMembers,
  listLeftoverRequests,
  listOverdueConfirmations,
  listUnexecutedConfirmations,
} from '../../projections/confirmations.ts'
import { changeConfirmation, loadConfirmation } from '../commands/confirmations.ts'
import { momentOf, type Origin } from '../commands/origin.ts'
import { Refusal } from '../domain/refusal.ts'
import { recordExecution, runConsumed } from '../gate/execute.ts'
import type { ApprovalPorts } from '../gate/ports.ts'
import { findOperation, streamedOperations } from '../gate/registry.ts'
import { destroyRequest, openRequest } from '../gate/request.ts'
import { runApproved } from '../gate/run-approved.ts'
import type { Ports } from '../ports.ts'
import { graceAt } from './grace.ts'
import type { Poller } from './poller.ts'
import { originOfProcess, processOf, type Trouble } from './process-manager.ts'

type Options = {
  /** How long the request that consumed or approved a confirmation has to run it before its process manager does. */
  graceMs?: number
  onTrouble: (trouble: Trouble) => void
}

/**
 * Finishes confirmations after a crash: runs those that were consumed, or approved for a member, but not
 * executed; records expiries; destroys sealed requests that are left over.
 */
export const confirmationProcesses = (services: ApprovalPorts, options: Options): Poller[] => [
  resumeConfirmations(services, options),
  expireConfirmations(services, options),
  clearRequests(services, options),
]

function resumeConfirmations(services: ApprovalPorts, { graceMs = 10_000, onTrouble }: Options): Poller {
  return processOf<string>(services, onTrouble, {
    name: 'confirmations.resume',
    everyMs: 1000,
    async due(wanted) {
      const grace = graceAt(services.now(), graceMs)
      return [
        ...(await listUnexecutedConfirmations(services.db, grace, wanted)),
        ...(await listApprovedOfMembers(services.db, grace, streamedOperations, wanted)),
      ]
    },
    idOf: (confirmationId) => confirmationId,
    advance: (confirmationId) => resumeConfirmation(services, confirmationId, originOfProcess()),
  })
}

function expireConfirmations(
  services: Ports<'db' | 'execute' | 'ledger' | 'now' | 'secrets'>,
  { onTrouble }: Options,
): Poller {
  return processOf<string>(services, onTrouble, {
    name: 'confirmations.expire',
    everyMs: 1000,
    due: (wanted) => listOverdueConfirmations(services.db, momentOf(services), wanted),
    idOf: (confirmationId) => confirmationId,
    async advance(confirmationId) {
      const expire = { type: 'Expire', at: momentOf(services) } as const
      const expired = await changeConfirmation(services, confirmationId, expire, originOfProcess())
      if (expired.status === 'expired') await destroyRequest(services, expired)
    },
  })
}

function clearRequests(services: Ports<'db' | 'ledger' | 'now' | 'secrets'>, { onTrouble }: Options): Poller {
  return processOf<{ tenantId: string; confirmationId: string; unknown: boolean }>(services, onTrouble, {
    name: 'confirmations.clear',
    everyMs: 60_000,
    due: (wanted) => listLeftoverRequests(services.db, wanted),
    idOf: ({ confirmationId }) => confirmationId,
    async advance({ unknown, ...named }) {
      // The read models may not show it yet; only the log proves that it does not exist.
      if (unknown && (await loadConfirmation(services, named.confirmationId)).state.status !== 'absent')
        return
      await destroyRequest(services, named)
    },
  })
}

/**
 * Runs a consumed confirmation's operation from its stored request. If the first run got part of the way, the
 * repetition changes nothing more. A confirmation that is not consumed, or executed already, is left
 * unchanged.
 */
async function resumeConfirmation(services: ApprovalPorts, id: string, origin: Origin): Promise<void> {
  const { state: confirmation } = await loadConfirmation(services, id)
  if (confirmation.status === 'approved') return unlessRefused(runApproved(services, id, origin))
  if (confirmation.status !== 'consumed') return
  const operation = findOperation(confirmation.operation)
  if (!operation) throw new Error(`this version has no operation ${confirmation.operation}`)
  const request = await openRequest(services, confirmation)
  if (!request) {
    // The vault was restored from an older backup, so the request is unknown.
    return recordExecution(services, confirmation, { outcome: 'refused', reason: 'request_gone' }, origin)
  }
  await unlessRefused(runConsumed(services, operation, confirmation, request, origin))
}

/** The refusal is recorded, and no caller waits for it. */
async function unlessRefused(running: Promise<unknown>): Promise<void> {
  await running.catch((error: unknown) => {
    if (!(error instanceof Refusal)) throw error
  })
}
