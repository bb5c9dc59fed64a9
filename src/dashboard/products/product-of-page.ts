import type { FastifyRequest } from 'fastify'
import type { PresentProduct } from '../../../projections/products/queries.ts'
import type { KeyType } from '../../domain/products/key-type.ts'
import { findKeyType } from '../../domain/products/product.ts'
import { Slug } from '../../domain/values.ts'
import { notFound } from '../../http/problem.ts'
import type { Ports } from '../../ports.ts'
import type { Crumb } from '../frame/navigation.ts'
import { principalOf } from '../session/principal.ts'

export type ProductRequest = FastifyRequest<{ Params: { id: string } }>
export type KeyTypeRequest = FastifyRequest<{ Params: { id: string; keyType: string } }>

/** The product that a page is about. @throws Problem 404, also for a malformed id and another tenant's product */
export const productOf = (ports: Ports<'findProduct'>, request: ProductRequest): Promise<PresentProduct> =>
  findOwn(ports, principalOf(request).tenantId, request.params.id)

async function findOwn(ports: Ports<'findProduct'>, tenantId: string, id: string): Promise<PresentProduct> {
  const productId = Slug.safeParse(id).data
  const product = productId && (await ports.findProduct(tenantId, productId))
  if (!product) throw notFound('product')
  return product
}

/** The key type that a page is about, and its product. @throws Problem 404 */
export async function keyTypeOfPage(
  ports: Ports<'findProduct'>,
  request: KeyTypeRequest,
): Promise<{ product: PresentProduct; keyType: KeyType }> {
  const product = await findOwn(ports, principalOf(request).tenantId, request.params.id)
  const keyType = findKeyType(product, request.params.keyType)
  if (!keyType) throw notFound('key type')
  return { product, keyType }
}

/** The pages above one that changes a part of a product. */
export const aboveIn = ({ productId, name }: { productId: string; name: string }): Crumb[] => [
  { label: 'Products', href: '/dashboard/products' },
  { label: name, href: `/dashboard/products/${productId}` },
]
