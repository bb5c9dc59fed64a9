import { z } from 'zod'
import { Provider } from '../integrations/provider.ts'
import { SaleFact, SaleLink } from '../sales/events.ts'
import { Moment, Slug } from '../values.ts'

const link = { tenantId: Slug, provider: Provider, link: SaleLink }

/**
 * Everything a `notice-<tenant>.<provider>.<hash>` stream may hold: one a link by which a provider names a sale. A
 * recorded shape is never edited: add a new type.
 */
export const LinkEvent = z.discriminatedUnion('type', [
  /** Told of a sale that nobody knows yet. */
  z.object({
    type: z.literal('NoticeKept'),
    data: z.strictObject({ ...link, fact: SaleFact, at: Moment }),
  }),
  /** The sale that the link names; what is told from now on is recorded with the sale. */
  z.object({
    type: z.literal('LinkBound'),
    data: z.strictObject({ ...link, saleId: z.string().min(1).max(500), at: Moment }),
  }),
])
export type LinkEvent = z.infer<typeof LinkEvent>
