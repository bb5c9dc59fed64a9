import { z } from 'zod'
import { Provider } from '../../../domain/integrations/provider.ts'
import { amountText } from '../../../domain/meters/amount.ts'
import { type ItemCredit, spentOf } from '../../../domain/sales/credits.ts'
import { ParkedReason, SaleEvent } from '../../../domain/sales/events.ts'
import { itemsOf } from '../../../domain/sales/items.ts'
import { type KnownSale, salePaymentStatus } from '../../../domain/sales/sale.ts'
import { warningsOf } from '../../../history/sale-warnings.ts'
import { amountOut } from '../../../http/licenses/meters.ts'
import { momentOut } from '../../../http/schemas.ts'
import type { Buyer } from '../../../sales/buyers.ts'
import type { SaleHistoryEntry } from '../../../sales/history.ts'

export const SaleStatus = z.enum(['received', 'parked', 'licensed']).meta({
  description:
    '`received` until its license, or its credit, exists; `parked` while it is unknown what to issue; then `licensed`',
  example: 'licensed',
})

const money = { amount: z.int(), currency: z.string() }

const Sale = z.object({
  id: z.string().meta({ description: 'The id of the sale', example: 'sal_06f5w3k8hx7vq2m4n9t1r0s5zc' }),
  provider: Provider,
  saleId: z.string(),
  sessionId: z.string(),
  orderNumber: z.string().nullable().meta({
    description: "The number on the customer's receipt, where the provider sends it",
    example: '524459935',
  }),
  status: SaleStatus,
  parked: z
    .object({
      reason: ParkedReason.meta({ description: 'The reason as a stable code', example: 'no_mapping' }),
      detail: z.string().meta({
        description: 'What the reason is about, such as the id that is not mapped',
        example: 'plink_1QwGk2LkdIwHu7ix',
      }),
      at: momentOut.meta({ description: 'When it was parked' }),
    })
    .nullable()
    .meta({ description: 'Why the sale has no license yet; null if it is not parked', example: null }),
  productId: z.string().nullable(),
  keyTypeId: z.string().nullable(),
  licenseId: z.string().nullable().meta({
    description: 'The license of the first item; null until it exists',
    example: 'lic_06f5w3k8hx7vq2m4n9t1r0s5zc',
  }),
  licenses: z
    .array(
      z.object({ licenseId: z.string(), productId: z.string(), keyTypeId: z.string(), quantity: z.int() }),
    )
    .meta({ description: 'The license of each item that was bought, the first one first' }),
  credits: z
    .array(
      z.object({
        creditId: z.string().meta({
          description: 'The id of the credit',
          example: 'crd_06f5w3k8hx7vq2m4n9t1r0s5zc',
        }),
        licenseId: z.string().meta({
          description: 'The license that it was bought for',
          example: 'lic_06f5w3k8hx7vq2m4n9t1r0s5zc',
        }),
        customerId: z.string().nullable().meta({
          description: 'The customer whose licenses share the meter; null for one of this license alone',
          example: null,
        }),
        meter: z.string().meta({ description: 'The meter', example: 'minutes' }),
        amount: amountOut.meta({ description: 'What was added', example: '500' }),
        endsAt: momentOut.nullable().meta({
          description: 'From when on it cannot be spent; null for never',
          example: '2027-11-24T00:00:00.000Z',
        }),
        withdrawn: amountOut.nullable().meta({
          description: 'What was left and taken back, since no payment is left; null while it can be spent',
          example: null,
        }),
        spent: amountOut.nullable().meta({
          description: 'What had been spent by then; null while it can be spent',
          example: null,
        }),
      }),
    )
    .meta({
      description: 'The credit of each item that added to a meter instead of issuing a license',
      example: [],
    }),
  quantity: z.int().meta({ description: 'The number of units of the first item', example: 1 }),
  email: z.string().nullable().meta({
    description: 'The email address of the buyer; null when the provider sent none, or after an erasure',
    example: 'grace@example.com',
  }),
  needsHolder: z.boolean().meta({
    description: 'Whether the provider sent no email address, and the license has no customer yet',
    example: false,
  }),
  gift: z
    .object({
      giverEmail: z.string().nullable().meta({
        description: 'The email address of the giver; null when the provider sent none, or after an erasure',
        example: 'giver@example.com',
      }),
    })
    .nullable()
    .meta({
      description:
        'Who paid, where the buyer was given it; `amount` is what the giver paid. null if it was no gift',
      example: null,
    }),
  notices: z
    .array(
      z.object({
        code: z
          .enum(['quantity_exceeded', 'plan_not_mapped', 'item_not_mapped', 'renewal_failed'])
          .meta({ description: 'What it is about, for programs', example: 'quantity_exceeded' }),
        message: z.string().meta({
          description: 'The same for people, with what to do',
          example: '60 units were paid for, but the key type allows 50',
        }),
      }),
    )
    .meta({
      example: [],
      description:
        '`quantity_exceeded`: the quantity paid for is greater than the key type allows. `plan_not_mapped`: the subscription was ' +
        'changed to a plan that is not mapped to a key type, so the license did not change. `item_not_mapped`: something ' +
        'that was bought besides has no license, since it is not mapped to a key type. `renewal_failed`: the payment for a ' +
        'renewal failed and is still to be made; it is a notice until the payment succeeds or the subscription ends',
    }),
  name: z.string().nullable().meta({
    description: 'The name of the buyer; null when the provider sent none, or after an erasure',
    example: 'Grace Hopper',
  }),
  ...money,
  productName: z.string(),
  test: z.boolean(),
  refunded: z
    .enum(['no', 'partly', 'fully'])
    .meta({ description: 'Whether its payments were refunded', example: 'no' }),
  dispute: z
    .enum(['open', 'lost', 'won'])
    .nullable()
    .meta({ description: 'The worst outcome of its disputes; null without a dispute', example: null }),
  duplicates: z.int().meta({ description: 'How often the notification was repeated', example: 0 }),
  receivedAt: momentOut,
  licensedAt: momentOut.nullable(),
})

export const saleOut = Sale.meta({ id: 'Sale', description: 'A sale that a payment provider reported' })

const eventTypes = SaleEvent.options.map(({ shape }) => shape.type.value)

export const saleDetailOut = Sale.extend({
  refunds: z
    .array(
      z.object({
        refundId: z
          .string()
          .meta({ description: "The provider's id of the refund", example: 're_3QwGk2LkdIwHu7ix' }),
        ...money,
        full: z.boolean().meta({
          description: 'Whether the whole payment is refunded with it',
          example: true,
        }),
      }),
    )
    .meta({ description: 'Its refunds, oldest first', example: [] }),
  renewals: z
    .array(
      z.object({
        paymentId: z
          .string()
          .meta({ description: "The provider's id of the payment", example: 'in_1QwGk2LkdIwHu7ix' }),
        paidUntil: momentOut.nullable().meta({
          description: 'The end of the paid period; null where the provider reports it separately',
          example: '2028-11-21T09:30:00.000Z',
        }),
        ...money,
      }),
    )
    .meta({ description: 'The payments of further periods, oldest first', example: [] }),
  disputes: z
    .array(
      z.object({
        disputeId: z
          .string()
          .meta({ description: "The provider's id of the dispute", example: 'dp_1QwGk2LkdIwHu7ix' }),
        outcome: z
          .enum(['open', 'lost', 'won'])
          .meta({ description: 'How it ended, if it has', example: 'open' }),
        amount: z.int().nullable(),
        currency: z.string().nullable(),
      }),
    )
    .meta({ description: 'Its disputes, oldest first', example: [] }),
  history: z
    .array(
      z.object({
        type: z
          .enum(eventTypes)
          .meta({ description: 'The event, as the log names it', example: 'SaleReceived' }),
        at: momentOut,
        actor: z.string().meta({
          description:
            'Who caused it: `provider:<name>`, `member:<id>`, `token:<id>`, `operator:<name>` or `system:<part>`',
          example: 'provider:stripe',
        }),
        requestId: z.string(),
        notificationId: z.string().nullable(),
        occurredAt: momentOut.nullable(),
      }),
    )
    .meta({ description: 'Everything that happened to it, oldest first' }),
}).meta({ id: 'SaleDetail', description: 'A sale with its payments and its history' })

function creditView(credit: ItemCredit | undefined) {
  if (!credit?.added) return undefined
  const { licenseId, customerId, meter, withdrawn } = credit
  const { at: _, ...added } = credit.added
  const spent = spentOf(credit)
  return {
    ...{ ...added, licenseId, customerId, meter, withdrawn: withdrawn?.left ?? null },
    spent: spent === null ? null : amountText(spent),
  }
}

/** The public form of a sale. */
export function saleView(sale: KnownSale, { needsHolder, ...person }: Buyer): z.infer<typeof saleOut> {
  const { refunds, disputes } = sale.facts
  const outcomes = disputes.map(({ outcome }) => outcome)
  return {
    id: sale.id,
    provider: sale.provider,
    saleId: sale.saleId,
    sessionId: sale.sessionId,
    orderNumber: sale.orderNumber ?? null,
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
    credits: itemsOf(sale).flatMap(({ credit }) => creditView(credit) ?? []),
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
