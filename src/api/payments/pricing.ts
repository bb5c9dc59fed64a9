import { z } from 'zod'
import type { PresentProduct } from '../../../projections/products/queries.ts'
import { findTenant } from '../../../projections/tenants.ts'
import { purchasable } from '../../commands/checkout/checkout.ts'
import { isSlug } from '../../domain/values.ts'
import { notFound, Problem } from '../../http/problem.ts'
import { answer, errorBody, errorsWith } from '../../http/schemas.ts'
import type { ZodApp } from '../../http/validation.ts'
import type { Ports } from '../../ports.ts'
import { answerPreflight } from '../client/edge.ts'

const path = '/:tenantId/:productId/pricing'
const cacheSeconds = 60

const pricing = z.object({
  product: z
    .object({
      productId: z.string(),
      name: z.string().meta({ description: 'The name of the product', example: 'Editor' }),
    })
    .meta({ description: 'The product' }),
  keyTypes: z
    .array(
      z.object({
        keyTypeId: z.string(),
        name: z.string().meta({ description: 'The name of the key type', example: 'Pro' }),
        price: z
          .object({
            amount: z.int(),
            currency: z.string(),
            interval: z.string().nullable().meta({
              description: 'How often it is paid, such as `month`; null for a one-time payment',
              example: 'year',
            }),
          })
          .meta({ description: 'The price of one unit' }),
        term: z
          .object({
            count: z.int().meta({ description: 'How many of the unit', example: 1 }),
            unit: z.enum(['day', 'month', 'year']).meta({ description: 'Calendar units', example: 'year' }),
          })
          .nullable()
          .meta({ description: 'How long a license lasts; null is perpetual' }),
        devicesPerSeat: z
          .int()
          .nullable()
          .meta({ description: 'How many devices one seat is for; null is unlimited', example: 3 }),
        maxSeats: z.int().nullable().meta({
          description: 'The most seats of one purchase; null is unlimited, 1 if it is not sold in multiples',
          example: 50,
        }),
        buyUrl: z.string().meta({
          description: 'The page where a customer buys it',
          example: 'https://licenses.acme.example/acme/editor/buy/pro',
        }),
      }),
    )
    .meta({ description: 'What is for sale' }),
})

/** The public prices of a product. */
export function pricingRoute(
  app: ZodApp,
  ports: Ports<'db' | 'findProduct' | 'secrets'>,
  baseUrl: string,
): void {
  answerPreflight(app, path)
  app.get(
    path,
    {
      config: { anyOrigin: true },
      schema: {
        operationId: 'getPricing',
        tags: ['Checkout'],
        summary: 'List the prices of a product and where to buy it',
        description: 'Key types whose price was verified at Stripe, as long as the product can be sold.',
        security: [],
        params: z.object({
          tenantId: z.string(),
          productId: z.string(),
        }),
        response: { 200: answer('The prices', pricing), ...errorsWith(errorBody, 403, 404) },
      },
    },
    async (request, reply) => {
      const { tenantId, productId } = request.params
      const { product } = await publicProduct(ports, tenantId, productId)
      const sold = await purchasable(ports, product)
      reply.header('cache-control', `public, max-age=${cacheSeconds}`)
      return {
        product: { productId, name: product.name },
        keyTypes: sold.map(({ keyType, ...price }) => ({
          keyTypeId: keyType.keyTypeId,
          name: keyType.name,
          price,
          term: keyType.duration,
          devicesPerSeat: keyType.deviceLimit,
          maxSeats: keyType.sellInMultiples ? keyType.maxQuantity : 1,
          buyUrl: `${baseUrl}/${tenantId}/${productId}/buy/${keyType.keyTypeId}`,
        })),
      }
    },
  )
}

/** @throws Problem 404 for an unknown product, 403 for one of a closed tenant */
export async function publicProduct(
  ports: Ports<'db' | 'findProduct'>,
  tenantId: string,
  productId: string,
): Promise<{ product: PresentProduct; tenantStatus: 'active' | 'suspended' }> {
  const isName = isSlug(tenantId) && isSlug(productId)
  const tenant = isName ? await findTenant(ports.db, tenantId) : undefined
  if (!tenant) throw notFound('product')
  if (tenant.status === 'closed') throw new Problem(403, 'forbidden', 'the tenant is closed')
  const product = await ports.findProduct(tenantId, productId)
  if (!product) throw notFound('product')
  return { product, tenantStatus: tenant.status }
}
