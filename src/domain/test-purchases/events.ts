import { z } from 'zod'
import { Provider } from '../integrations/provider.ts'
import { Moment, Slug } from '../values.ts'

/** The stages of a test purchase, in order. */
export const Stage = z.enum(['checkout', 'webhook', 'license_minted'])
export type Stage = z.infer<typeof Stage>

const Detail = z.string().min(1).max(1000)

/** Everything a `testpurchase-<id>` stream may hold. A recorded shape is never edited: add a new type. */
export const TestPurchaseEvent = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('TestPurchaseStarted'),
    data: z.strictObject({
      testPurchaseId: z.string().min(1),
      tenantId: Slug,
      productId: Slug,
      keyTypeId: Slug,
      provider: Provider,
      at: Moment,
    }),
  }),
  z.object({ type: z.literal('StageStarted'), data: z.strictObject({ stage: Stage, at: Moment }) }),
  z.object({
    type: z.literal('StageDone'),
    data: z.strictObject({ stage: Stage, detail: Detail, at: Moment }),
  }),
  z.object({
    type: z.literal('StageFailed'),
    data: z.strictObject({ stage: Stage, detail: Detail, at: Moment }),
  }),
])
export type TestPurchaseEvent = z.infer<typeof TestPurchaseEvent>
