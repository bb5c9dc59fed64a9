import { z } from 'zod'
import { Moment, Slug, text } from '../values.ts'

const place = {
  productId: Slug.meta({ description: 'The id of the product', example: 'editor' }),
  keyTypeId: Slug.meta({ description: 'The id of the key type of the product', example: 'default' }),
}

/** How many licenses of a key type a reseller may mint in all. */
export const Quota = z.strictObject({
  ...place,
  licenses: z
    .int()
    .min(0)
    .max(1_000_000)
    .meta({ description: 'How many licenses of it may be minted in all', example: 50 }),
})
export type Quota = z.infer<typeof Quota>

/** One for each key type. */
export const Quotas = z
  .array(Quota)
  .max(100)
  .refine(
    (quotas) =>
      new Set(quotas.map(({ productId, keyTypeId }) => `${productId}/${keyTypeId}`)).size === quotas.length,
    'must have each key type once',
  )

export const ResellerName = text(200)

/** A license of a reseller, by the quota that it counts in. */
const counted = z.strictObject({ ...place, licenseId: z.string().min(1), at: Moment })

/** Everything a `reseller-<id>` stream may hold. A recorded shape is never edited: add a new type. */
export const ResellerEvent = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('ResellerCreated'),
    data: z.strictObject({
      resellerId: z.string().min(1),
      tenantId: Slug,
      name: ResellerName,
      quotas: Quotas,
      at: Moment,
    }),
  }),
  z.object({
    type: z.literal('ResellerChanged'),
    data: z.strictObject({ name: ResellerName, quotas: Quotas, at: Moment }),
  }),
  /** Recorded before the license is minted with this id, so that there are never more licenses than the quota allows. */
  z.object({ type: z.literal('ResellerLicenseTaken'), data: counted }),
  /** The license was never minted: its process died, and no request repeated it. */
  z.object({ type: z.literal('ResellerLicenseReturned'), data: counted }),
  z.object({ type: z.literal('ResellerClosed'), data: z.strictObject({ at: Moment }) }),
])
export type ResellerEvent = z.infer<typeof ResellerEvent>
