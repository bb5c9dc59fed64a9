import { findTenant } from '../../projections/tenants.ts'
import { changeConfirmation, loadConfirmation } from '../commands/confirmations.ts'
import { momentOf, type Origin, sealSourceWith } from '../commands/origin.ts'
import { isId, newId } from '../credentials/id.ts'
import { decideConfirmation, type RequestedConfirmation } from '../domain/confirmations/confirmation.ts'
import { shortestLifetimeSeconds } from '../domain/confirmations/events.ts'
import { Refusal, type RefusalCode } from '../domain/refusal.ts'
import type { Ports } from '../ports.ts'
import { runConsumed } from './execute.ts'
import type { GatedOperation, RequestInput } from './operation.ts'
import type { ApprovalPorts } from './ports.ts'
import { destroyRequest, hashOf, keepRequest, requestHashOf } from './request.ts'

/** A call of a gated operation. */
export type GatedCall = {
  tenantId: string
  /** The id of the token, or of the member who makes the request in the dashboard. */
  tokenId: string
  /** What the program that sent it calls itself. */
  userAgent: string | null
  request: RequestInput
  origin: Origin
  /** The confirmation that the call names, if any. */
  confirmationId: string | undefined
}

export type GateOutcome<Result> =
  | { passed: true; result: Result }
  /** Nothing was executed: a person has to approve the call first. */
  | { passed: false; confirmation: RequestedConfirmation }

/**
 * Runs a gated call once for each approved confirmation. A call that could never run is refused before a
 * confirmation is opened; if the reason is that its confirmation was already used, the refusal says so. A
 * refused call also consumes its approved confirmation, and the record says why.
 * @throws Refusal what `check` and `run` throw; `confirmation_unknown`, `confirmation_mismatch`,
 *   `confirmation_pending`, `confirmation_denied`, `confirmation_expired`, `confirmation_consumed`
 */
export async function passGate<Result>(
  ports: ApprovalPorts,
  operation: GatedOperation<Result>,
  call: GatedCall,
): Promise<GateOutcome<Result>> {
  const { tenantId, confirmationId, request } = call
  try {
    await operation.check(ports, tenantId, request)
  } catch (error) {
    if (error instanceof Refusal && confirmationId !== undefined) {
      await useUp(ports, operation, call, confirmationId, error.code)
    }
    throw error
  }
  if (confirmationId === undefined) return { passed: false, confirmation: await ask(ports, operation, call) }
  if (!isId('cnf', confirmationId)) throw new Refusal('confirmation_unknown')
  const consumed = await changeConfirmation(
    ports,
    confirmationId,
    consumption(ports, operation, call),
    call.origin,
  )
  return { passed: true, result: await runConsumed(ports, operation, consumed, request, call.origin) }
}

/**
 * Checks that a confirmation allows a call now, and leaves it unused.
 * @throws Refusal `confirmation_unknown`, `confirmation_mismatch`, `confirmation_pending`, `confirmation_denied`,
 *   `confirmation_expired`, `confirmation_consumed`
 */
export async function requireUsable(
  ports: Ports<'ledger' | 'now'>,
  operation: GatedOperation<unknown>,
  call: GatedCall,
  confirmationId: string,
): Promise<void> {
  if (!isId('cnf', confirmationId)) throw new Refusal('confirmation_unknown')
  const { state } = await loadConfirmation(ports, confirmationId)
  decideConfirmation(state, consumption(ports, operation, call))
}

/**
 * Consumes an approved confirmation and records why its call is refused. A pending one, and one of another
 * call, is left unchanged.
 * @throws Refusal when the confirmation belongs to this call and is denied, expired or consumed
 */
async function useUp(
  ports: Ports<'execute' | 'now' | 'secrets'>,
  operation: GatedOperation<unknown>,
  call: GatedCall,
  confirmationId: string,
  refusal: RefusalCode,
): Promise<void> {
  if (!isId('cnf', confirmationId)) return
  const command = { ...consumption(ports, operation, call), refusal }
  try {
    await destroyRequest(ports, await changeConfirmation(ports, confirmationId, command, call.origin))
  } catch (error) {
    if (!(error instanceof Refusal) || over.has(error.code)) throw error
  }
}

const over: ReadonlySet<RefusalCode> = new Set([
  'confirmation_denied',
  'confirmation_expired',
  'confirmation_consumed',
])

function consumption(ports: Ports<'now'>, operation: GatedOperation<unknown>, call: GatedCall) {
  const requestHash = requestHashOf(operation, call.request)
  return { type: 'Consume', tokenId: call.tokenId, requestHash, at: momentOf(ports) } as const
}

/** Opens a confirmation. A crash after the request was kept leaves only a sealed text without a reference. */
async function ask(
  ports: ApprovalPorts,
  operation: GatedOperation<unknown>,
  { tenantId, tokenId, userAgent, request, origin }: GatedCall,
): Promise<RequestedConfirmation> {
  const { state } = await operation.describe(ports, tenantId, request)
  const { effect } = await operation.preview(ports, tenantId, request)
  const confirmationId = newId('cnf')
  const tenant = await findTenant(ports.db, tenantId)
  const lifetimeSeconds = tenant?.confirmationSeconds ?? shortestLifetimeSeconds
  const now = ports.now()
  const { name, method, path } = operation
  const source = origin.source?.()
  const from = source && (await sealSourceWith(ports.db, ports.subjects)(source))
  await keepRequest(ports, { tenantId, confirmationId }, request, effect)
  return changeConfirmation(
    ports,
    confirmationId,
    {
      type: 'RequestConfirmation',
      request: {
        confirmationId,
        tenantId,
        tokenId,
        operation: name,
        method,
        path,
        parameters: request.parameters,
        requestHash: requestHashOf(operation, request),
        stateHash: hashOf(state),
        client: { from: from ?? null, userAgent },
        requestId: origin.requestId,
        expiresAt: new Date(now.getTime() + lifetimeSeconds * 1000).toISOString(),
      },
      at: now.toISOString(),
    },
    origin,
  )
}
