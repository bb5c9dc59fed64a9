import type { ConfirmationStatus, RequestedConfirmation } from '../../domain/confirmations/confirmation.ts'
import type { RefusalCode } from '../../domain/refusal.ts'
import type { ApprovalPorts } from '../ports.ts'
import { findOperation } from '../registry.ts'
import { openRequest } from '../request.ts'
import type { Effect } from './effect.ts'
import { effectWords, steadyWords } from './sentences.ts'

/** What a request would change now, and how that differs from when it was made. */
export type ShownEffect = {
  effect: Effect
  /** Why it would be refused now; it then changes nothing. */
  refusal: RefusalCode | null
  /** The effect in sentences. */
  sentences: string[]
  /** The sentences whose text the approver has to see again when it changes. */
  steady: string[]
  /** The sentences that differ from when the request was made; undefined when that was not kept. */
  sinceAsked: { before: string[]; now: string[] } | undefined
}

/** A request with one of these states has run or can no longer run. */
const isOver = (status: ConfirmationStatus): boolean =>
  status === 'denied' || status === 'expired' || status === 'consumed' || status === 'executed'

/** Computes the effect of a request; undefined when it is over, and so destroyed. @param status its status now */
export async function effectFor(
  ports: ApprovalPorts,
  confirmation: RequestedConfirmation,
  status: ConfirmationStatus,
): Promise<ShownEffect | undefined> {
  if (isOver(status)) return undefined
  const operation = findOperation(confirmation.operation)
  const request = operation && (await openRequest(ports, confirmation))
  if (!operation || !request) return undefined
  const { effect: requested, ...input } = request
  const { effect, refusal } = await operation.preview(ports, confirmation.tenantId, input)
  const sentences = effectWords(effect)
  const before = requested && effectWords(requested)
  return {
    effect,
    refusal,
    sentences,
    steady: steadyWords(effect),
    sinceAsked: before && {
      before: before.filter((sentence) => !sentences.includes(sentence)),
      now: sentences.filter((sentence) => !before.includes(sentence)),
    },
  }
}
