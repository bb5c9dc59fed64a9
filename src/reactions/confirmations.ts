import {
  listApprovedOfMembers,
  listLeftoverRequests,
  listOverdueConfirmations,
  listUnexecutedConfirmations,
} from '../../projections/confirmations/queries.ts'
import { createBackoff } from '../async/backoff.ts'
import { changeConfirmation, loadConfirmation } from '../commands/confirmations.ts'
import { momentOf, type Origin, type Services } from '../commands/services.ts'
import { newId } from '../credentials/id.ts'
import { Refusal } from '../domain/refusal.ts'
import { execute, recordExecution } from '../gate/execute.ts'
import { findOperation } from '../gate/registry.ts'
import { destroyRequest, openRequest } from '../gate/request.ts'
import { runApproved } from '../gate/run-approved.ts'
import { graceAt } from './grace.ts'
import type { Reaction } from './reaction.ts'

/** Told of a confirmation that could not be settled; it is tried again later. */
type OnTrouble = (trouble: { confirmation: string; error: unknown }) => void

type Options = {
  /** So long a request that has consumed its confirmation, or approved a member's, is left to finish by itself. */
  graceMs?: number
  onTrouble: OnTrouble
}

/**
 * Carries confirmations to their end: runs what was approved and consumed, or approved for a member, by somebody who
 * died before it was executed, records expiries, and destroys the sealed requests that such a death left behind.
 */
export function confirmationReactions(services: Services, options: Options): Reaction[] {
  return [
    { name: 'confirmations.resume', everyMs: 1000, round: createResume(services, options) },
    { name: 'confirmations.expire', everyMs: 1000, round: () => expireOverdue(services) },
    { name: 'confirmations.clear', everyMs: 60_000, round: () => destroyLeftovers(services) },
  ]
}

const originNow = (): Origin => ({ requestId: newId('req'), actor: 'system:reactions' })

function createResume(services: Services, { graceMs = 10_000, onTrouble }: Options): () => Promise<void> {
  const backoff = createBackoff(services.now)
  return async () => {
    const grace = graceAt(services.now(), graceMs)
    const due = [
      ...(await listUnexecutedConfirmations(services.db, grace)),
      ...(await listApprovedOfMembers(services.db, grace)),
    ]
    const waiting = new Set(backoff.waiting())
    for (const id of due) {
      if (waiting.has(id)) continue
      try {
        await resumeConfirmation(services, id, originNow())
        backoff.succeeded(id)
      } catch (error) {
        onTrouble({ confirmation: id, error })
        backoff.failed(id)
      }
    }
    backoff.retainOnly(due)
  }
}

/**
 * Runs a consumed confirmation's operation from the request that was kept for it; once more if its first run had
 * got anywhere, which changes nothing more. One that is not consumed, or executed already, is left as it is.
 */
async function resumeConfirmation(services: Services, id: string, origin: Origin): Promise<void> {
  const { state: confirmation } = await loadConfirmation(services, id)
  if (confirmation.status === 'approved') return runForMember(services, id, origin)
  if (confirmation.status !== 'consumed') return
  const operation = findOperation(confirmation.operation)
  if (!operation) throw new Error(`this version has no operation ${confirmation.operation}`)
  const request = await openRequest(services, confirmation)
  if (!request) {
    // Gone with a vault that was restored from an older backup: nobody can tell any more what was asked for.
    return recordExecution(services, confirmation, { outcome: 'refused', reason: 'request_gone' }, origin)
  }
  try {
    await execute(services, operation, confirmation, request, origin)
  } catch (error) {
    // That the rules do not allow it any more is recorded, and nobody waits for the answer.
    if (!(error instanceof Refusal)) throw error
  }
}

/** What the rules do not allow any more is recorded; somebody else may have run it meanwhile. */
async function runForMember(services: Services, id: string, origin: Origin): Promise<void> {
  try {
    await runApproved(services, id, origin)
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
  }
}

async function expireOverdue(services: Services): Promise<void> {
  const at = momentOf(services)
  for (const id of await listOverdueConfirmations(services.db, at)) {
    const expired = await changeConfirmation(services, id, { type: 'Expire', at }, originNow())
    if (expired.status === 'expired') await destroyRequest(services, expired)
  }
}

async function destroyLeftovers(services: Services): Promise<void> {
  for (const { unknown, ...named } of await listLeftoverRequests(services.db)) {
    // The read models may not be able to show it: only the log says that there is none.
    if (unknown && (await loadConfirmation(services, named.confirmationId)).state.status !== 'absent')
      continue
    await destroyRequest(services, named)
  }
}
