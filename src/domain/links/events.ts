import { z } from 'zod'
import { Provider } from '../integrations/provider.ts'
import { SaleFact, SaleLink } from '../sales/events.ts'
import { Moment, Slug } from '../values.ts'

const link = { tenantId: Slug, provider: Provider, link: SaleLink }

/**
 * Everything a `notice-<tenant>.<provider>.<hash>` stream may hold: one stream for each link by which a
 * provider names a sale. A recorded shape is never edited: add a new type.
 */
export const LinkEvent = z.discriminatedUnion('type', [
  /** A fact about a sale that is not known yet. */
  z.object({
    type: z.literal('NoticeKept'),
    data: z.strictObject({ ...link, fact: SaleFact, at: Moment }),
  }),
  /** The sale that the link names. From now on its facts are recorded in the sale's stream. */
  z.object({
    type: z.literal('LinkBound'),
    data: z.strictObject({ ...link, saleId: z.string().min(1).max(500), at: Moment }),
  }),
])
export type LinkEvent = z.infer<typeof LinkEvent>
