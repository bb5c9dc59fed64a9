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
import type { Poller } from './poller.ts'
import { type Failure, originOfProcess, processOf } from './process-manager.ts'

type Options = {
  /** How long the request that consumed or approved a confirmation has to run it before its process manager does. */
  graceMs?: number
  onFailure: (failure: Failure) => void
}

/**
 * Finishes confirmations after a crash: runs those that were consumed, or approved for a member, but not
 * executed; records expiries; destroys sealed requests that are left over.
 */
export const confirmationProcesses = (ports: ApprovalPorts, options: Options): Poller[] => [
  resumeConfirmations(ports, options),
  expireConfirmations(ports, options),
  clearRequests(ports, options),
]

function resumeConfirmations(ports: ApprovalPorts, { graceMs = 10_000, onFailure }: Options): Poller {
  return processOf<string>(ports, onFailure, {
    name: 'confirmations.resume',
    everyMs: 1000,
    async due(wanted) {
      const grace = graceAt(ports.now(), graceMs)
      return [
        ...(await listUnexecutedConfirmations(ports.db, grace, wanted)),
        ...(await listApprovedOfMembers(ports.db, grace, streamedOperations, wanted)),
      ]
    },
    idOf: (confirmationId) => confirmationId,
    advance: (confirmationId) => resumeConfirmation(ports, confirmationId, originOfProcess()),
  })
}

function expireConfirmations(
  ports: Ports<'db' | 'execute' | 'ledger' | 'now' | 'secrets'>,
  { onFailure }: Options,
): Poller {
  return processOf<string>(ports, onFailure, {
    name: 'confirmations.expire',
    everyMs: 1000,
    due: (wanted) => listOverdueConfirmations(ports.db, momentOf(ports), wanted),
    idOf: (confirmationId) => confirmationId,
    async advance(confirmationId) {
      const expire = { type: 'Expire', at: momentOf(ports) } as const
      const expired = await changeConfirmation(ports, confirmationId, expire, originOfProcess())
      if (expired.status === 'expired') await destroyRequest(ports, expired)
    },
  })
}

function clearRequests(ports: Ports<'db' | 'ledger' | 'now' | 'secrets'>, { onFailure }: Options): Poller {
  return processOf<{ tenantId: string; confirmationId: string; unknown: boolean }>(ports, onFailure, {
    name: 'confirmations.clear',
    everyMs: 60_000,
    due: (wanted) => listLeftoverRequests(ports.db, wanted),
    idOf: ({ confirmationId }) => confirmationId,
    async advance({ unknown, ...named }) {
      // The read models may not show it yet; only the log proves that it does not exist.
      if (unknown && (await loadConfirmation(ports, named.confirmationId)).state.status !== 'absent') return
      await destroyRequest(ports, named)
    },
  })
}

/**
 * Runs a consumed confirmation's operation from its stored request. If the first run got part of the way, the
 * repetition changes nothing more. A confirmation that is not consumed, or executed already, is left
 * unchanged.
 */
async function resumeConfirmation(ports: ApprovalPorts, id: string, origin: Origin): Promise<void> {
  const { state: confirmation } = await loadConfirmation(ports, id)
  if (confirmation.status === 'approved') return unlessRefused(runApproved(ports, id, origin))
  if (confirmation.status !== 'consumed') return
  const operation = findOperation(confirmation.operation)
  if (!operation) throw new Error(`this version has no operation ${confirmation.operation}`)
  const request = await openRequest(ports, confirmation)
  if (!request) {
    // The vault was restored from an older backup, so the request is unknown.
    return recordExecution(ports, confirmation, { outcome: 'refused', reason: 'request_gone' }, origin)
  }
  await unlessRefused(runConsumed(ports, operation, confirmation, request, origin))
}

/** The refusal is recorded, and no caller waits for it. */
async function unlessRefused(running: Promise<unknown>): Promise<void> {
  await running.catch((error: unknown) => {
    if (!(error instanceof Refusal)) throw error
  })
}

/** The clocks of cooperating processes differ by less than this. */
const clocksDifferMs = 60_000

/**
 * Work that began between these moments is left to the process that began it. A beginning in the future is
 * from before the clock was set back: its age is unknown, so the work is resumed.
 */
export type Grace = { from: string; until: string }

/** @param graceMs how long a process has to finish what it began */
export function graceAt(now: Date, graceMs: number): Grace {
  const moment = (aheadMs: number) => new Date(now.getTime() + aheadMs).toISOString()
  return { from: moment(-graceMs), until: moment(clocksDifferMs) }
}
