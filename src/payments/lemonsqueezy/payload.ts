import { z } from 'zod'
import { momentFrom, type Translated } from '../translated.ts'

/** Ids are numbers in some places and strings in others. */
export const Numeric = z.union([z.int(), z.string().min(1).max(255)]).transform(String)

/** The fields of every event. */
export const Payload = z.object({
  meta: z.object({
    event_name: z.string(),
    custom_data: z.record(z.string(), z.unknown()).nullish().catch(null),
  }),
  data: z.object({ id: Numeric, attributes: z.unknown() }),
})
export type Payload = z.infer<typeof Payload>

/** The fields that orders and invoices share about payments and refunds. */
type Payment = {
  status?: string | null | undefined
  total: number
  currency: string
  refunded_amount?: number | null | undefined
  refunded_at?: string | null | undefined
  updated_at?: string | null | undefined
  created_at: string
  test_mode: boolean
}

/**
 * The refund of an order or of an invoice. Its amount is the sum of all refunds so far.
 * @param of `id` names the payment at the provider, `link` its sale, `payment` the payment within the sale
 * @returns undefined when it has no time
 */
export function refundOf(
  paid: Payment,
  of: { id: string; link: string; payment?: string },
  notificationId: string,
): Translated | undefined {
  const at = momentFrom(paid.refunded_at ?? paid.updated_at ?? paid.created_at)
  if (!at) return undefined
  const { id, ...target } = of
  const full = paid.status === 'refunded'
  const amount = paid.refunded_amount ?? (full ? paid.total : 0)
  return {
    type: 'refunded',
    provider: 'lemonsqueezy',
    notificationId,
    test: paid.test_mode,
    at,
    ...target,
    refundId: `${id}.${amount}`,
    amount,
    cumulative: true,
    currency: paid.currency.toLowerCase(),
    full,
  }
}
