import { z } from 'zod'
import { Provider } from '../../../domain/integrations/provider.ts'
import { ParkedReason, SaleEvent } from '../../../domain/sales/events.ts'
import { itemsOf } from '../../../domain/sales/items.ts'
import { type KnownSale, salePaymentStatus } from '../../../domain/sales/sale.ts'
import { warningsOf } from '../../../history/sale-warnings.ts'
import { momentOut } from '../../../http/schemas.ts'
import type { Buyer } from '../../../sales/buyers.ts'
import type { SaleHistoryEntry } from '../../../sales/history.ts'

export const SaleStatus = z
  .enum(['received', 'parked', 'licensed'])
  .meta({ description: '`received` until its license exists; `parked` while it is unknown what to issue' })

const money = { amount: z.int().meta({ description: 'Minor units' }), currency: z.string() }

const Sale = z.object({
  id: z.string().meta({ example: 'sal_06f5w3k8hx7vq2m4n9t1r0s5zc' }),
  provider: Provider,
  saleId: z.string().meta({ description: "The provider's id of the sale", example: 'cs_live_a1b2c3' }),
  sessionId: z.string(),
  status: SaleStatus,
  parked: z
    .object({ reason: ParkedReason, detail: z.string(), at: momentOut })
    .nullable()
    .meta({ description: 'Why the sale has no license yet' }),
  productId: z.string().nullable(),
  keyTypeId: z.string().nullable(),
  licenseId: z.string().nullable().meta({ description: 'null until the license exists' }),
  licenses: z
    .array(
      z.object({ licenseId: z.string(), productId: z.string(), keyTypeId: z.string(), quantity: z.int() }),
    )
    .meta({ description: 'The license of each item that was bought, the first one first' }),
  quantity: z.int().meta({ description: 'Of the first item' }),
  email: z.string().nullable().meta({ description: 'null when the provider sent none, or after an erasure' }),
  needsHolder: z.boolean().meta({
    description: 'The provider sent no email address, and the license has no customer yet',
  }),
  gift: z
    .object({ giverEmail: z.string().nullable() })
    .nullable()
    .meta({ description: 'Who paid, where the buyer was given it; `amount` is what the giver paid' }),
  notices: z
    .array(
      z.object({
        code: z.enum(['quantity_exceeded', 'plan_not_mapped', 'item_not_mapped']),
        message: z.string(),
      }),
    )
    .meta({
      description:
        '`quantity_exceeded`: the quantity paid for is greater than the key type allows. `plan_not_mapped`: the subscription was ' +
        'changed to a plan that is not mapped to a key type, so the license did not change. `item_not_mapped`: something ' +
        'that was bought besides has no license, since it is not mapped to a key type',
    }),
  name: z.string().nullable(),
  ...money,
  productName: z.string(),
  test: z.boolean(),
  refunded: z.enum(['no', 'partly', 'fully']),
  dispute: z
    .enum(['open', 'lost', 'won'])
    .nullable()
    .meta({ description: 'The worst outcome of its disputes' }),
  duplicates: z.int().meta({ description: 'How often the notification was repeated' }),
  receivedAt: momentOut,
  licensedAt: momentOut.nullable(),
})

export const saleOut = Sale.meta({ id: 'Sale' })

const eventTypes = SaleEvent.options.map(({ shape }) => shape.type.value)

export const saleDetailOut = Sale.extend({
  refunds: z.array(z.object({ refundId: z.string(), ...money, full: z.boolean() })),
  renewals: z.array(
    z.object({
      paymentId: z.string(),
      paidUntil: momentOut
        .nullable()
        .meta({ description: 'null where the provider reports the end of the period separately' }),
      ...money,
    }),
  ),
  disputes: z.array(
    z.object({
      disputeId: z.string(),
      outcome: z.enum(['open', 'lost', 'won']),
      amount: z.int().nullable(),
      currency: z.string().nullable(),
    }),
  ),
  history: z
    .array(
      z.object({
        type: z.enum(eventTypes),
        at: momentOut,
        actor: z.string(),
        requestId: z.string(),
        notificationId: z.string().nullable(),
        occurredAt: momentOut.nullable(),
      }),
    )
    .meta({ description: 'Everything that happened to it, oldest first' }),
}).meta({ id: 'SaleDetail' })

/** The public form of a sale. */
export function saleView(sale: KnownSale, { needsHolder, ...person }: Buyer): z.infer<typeof saleOut> {
  const { refunds, disputes } = sale.facts
  const outcomes = disputes.map(({ outcome }) => outcome)
  return {
    id: sale.id,
    provider: sale.provider,
    saleId: sale.saleId,
    sessionId: sale.sessionId,
    status: sale.status,
    parked: sale.parked,
    productId: sale.productId,
    keyTypeId: sale.keyTypeId,
    licenseId: sale.licensedAt === null ? null : sale.licenseId,
    licenses: itemsOf(sale).flatMap(({ licenseId, productId, keyTypeId, quantity, licensedAt }) =>
      licensedAt === null || productId === null || keyTypeId === null
        ? []
        : [{ licenseId, productId, keyTypeId, quantity }],
    ),
    quantity: sale.quantity,
    ...person,
    needsHolder,
    notices: warningsOf(sale),
    amount: sale.amount,
    currency: sale.currency,
    productName: sale.productName,
    test: sale.test,
    refunded: salePaymentStatus(sale).unpaid === 'refund' ? 'fully' : refunds.length > 0 ? 'partly' : 'no',
    dispute: (['lost', 'open', 'won'] as const).find((outcome) => outcomes.includes(outcome)) ?? null,
    duplicates: sale.duplicates,
    receivedAt: sale.receivedAt,
    licensedAt: sale.licensedAt,
  }
}

/** The public form of a sale with its history. */
export function saleDetailView(
  sale: KnownSale,
  buyer: Buyer,
  history: SaleHistoryEntry[],
): z.infer<typeof saleDetailOut> {
  const { refunds, renewals, disputes } = sale.facts
  return {
    ...saleView(sale, buyer),
    refunds: refunds.map(({ lines: _, ...refund }) => refund),
    renewals: [...renewals],
    disputes: [...disputes],
    history,
  }
}
