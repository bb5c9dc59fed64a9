import type { FastifyInstance, FastifyRequest } from 'fastify'
import { listProducts } from '../../../projections/products/queries.ts'
import { countUnlicensed } from '../../../projections/trials/queries.ts'
import { Slug } from '../../domain/values.ts'
import { notFound } from '../../http/problem.ts'
import { queryOf } from '../frame/lists.ts'
import { pageRoute } from '../frame/page-route.ts'
import type { PageContext } from '../page-context.ts'
import { principalOf } from '../session/principal.ts'
import { productsView, productView } from './view.ts'

const member = pageRoute({ page: 'member' })
const pageSize = 50

type OneRequest = FastifyRequest<{ Params: { id: string } }>

/** The products and their key types, read only; they are changed through the API. */
export function productPages(app: FastifyInstance, { services, cursors, show }: PageContext): void {
  app.get('/products', member, async (request, reply) => {
    const { tenantId } = principalOf(request)
    const { cursor } = queryOf(request)
    const boundTo = [tenantId, 'dashboard products']
    const keyset = { after: cursors.read(boundTo, cursor), limit: pageSize }
    const { items: products, next } = await listProducts(services.db, tenantId, keyset)
    return show(reply, {
      title: 'Products',
      nav: 'products',
      content: (view) => productsView(view, { products, cursor, next: cursors.write(boundTo, next) }),
    })
  })

  app.get('/products/:id', member, async (request: OneRequest, reply) => {
    const { tenantId } = principalOf(request)
    const productId = Slug.safeParse(request.params.id).data
    const product = productId && (await services.findProduct(tenantId, productId))
    if (!product) throw notFound('product')
    const unlicensed = await countUnlicensed(services.db, tenantId, productId)
    return show(reply, {
      title: product.name,
      nav: 'products',
      content: () => productView(product, unlicensed),
    })
  })
}
