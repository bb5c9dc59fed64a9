import { z } from 'zod'
import { ignored, momentFrom, type Translated } from '../translated.ts'

const Id = z.string().min(1).max(255)

const Transaction = z.object({
  id: Id,
  origin: z.string(),
  subscription_id: Id.nullish(),
  billing_period: z.object({ ends_at: z.string() }).nullish(),
  payments: z.array(z.object({ status: z.string() })).nullish(),
})

type Common = { provider: 'paddle'; notificationId: string; test: boolean; at: string }

/**
 * A renewal that was not paid: Paddle sends each failed attempt, and once that the transaction is past due. No
 * notification holds the time of the next attempt.
 * @returns undefined when a required field is missing
 */
export function failedBy({ data }: { data?: unknown }, common: Common): Translated | undefined {
  const transaction = Transaction.safeParse(data).data
  if (!transaction) return undefined
  const { id: paymentId, origin, subscription_id: subscriptionId, billing_period: period } = transaction
  if (origin !== 'subscription_recurring') return ignored
  if (!subscriptionId) return undefined
  const failed = transaction.payments?.filter(({ status }) => status === 'error') ?? []
  return {
    type: 'renewal_failed',
    ...common,
    link: `subscription:${subscriptionId}`,
    paymentId,
    periodEnd: momentFrom(period?.ends_at) ?? null,
    attempt: failed.length || null,
    nextAttemptAt: null,
  }
}
