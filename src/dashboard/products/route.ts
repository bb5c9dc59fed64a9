import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import { listProducts } from '../../../projections/products/queries.ts'
import { listReleases } from '../../../projections/products/releases.ts'
import { countUnlicensed } from '../../../projections/trials.ts'
import { may } from '../../domain/members/roles.ts'
import { pageRoute } from '../frame/page-route.ts'
import { one } from '../lists/lists.ts'
import { MeterQuery, meteredUseOf, meterQuery } from '../metered-use/use.ts'
import type { PageContext } from '../page-context.ts'
import { SeatQuery, seatUseOf } from '../seat-use/seat-use.ts'
import { principalOf } from '../session/principal.ts'
import { keyTypeForms } from './key-type-route.ts'
import { mailPages } from './mail-route.ts'
import { type ProductRequest, productOf } from './product-of-page.ts'
import { productForms } from './product-route.ts'
import { releasePages } from './releases-route.ts'
import { sellingPages } from './selling-route.ts'
import { testModePages } from './test-mode-route.ts'
import { productsView, productView } from './view.ts'

const Query = z.object({ cursor: one })
const list = pageRoute({ page: 'products:read', query: Query })
const productPage = pageRoute({ page: 'products:read', query: SeatQuery.extend(meterQuery) })
const pageSize = 50

/** The products and their key types, and the forms that create and change them. */
export function productPages(app: FastifyInstance, context: PageContext): void {
  const { ports, cursors, show } = context
  productForms(app, context)
  keyTypeForms(app, context)
  testModePages(app, context)
  sellingPages(app, context)
  mailPages(app, context)
  releasePages(app, context)

  app.get('/products', list, async (request, reply) => {
    const { tenantId, role } = principalOf(request)
    const mayManage = may(role, 'manage_products')
    const { cursor } = Query.parse(request.query)
    const boundTo = [tenantId, 'dashboard products']
    const keyset = { after: cursors.read(boundTo, cursor), limit: pageSize }
    const { items: products, next } = await listProducts(ports.db, tenantId, keyset)
    return show(reply, {
      title: 'Products',
      nav: 'products',
      content: (view) =>
        productsView(view, { products, cursor, next: cursors.write(boundTo, next), mayManage }),
    })
  })

  app.get('/products/:id', productPage, async (request: ProductRequest, reply) => {
    const { tenantId, role } = principalOf(request)
    const product = await productOf(ports, request)
    const rights = { mayManage: may(role, 'manage_products'), mayMint: may(role, 'change_licenses') }
    const scope = { tenantId, productId: product.productId }
    const [unlicensed, releases, seatUse, meteredUse] = await Promise.all([
      countUnlicensed(ports.db, tenantId, product.productId),
      listReleases(ports.db, tenantId, product.productId),
      seatUseOf(ports, scope, SeatQuery.parse(request.query)),
      meteredUseOf(ports, scope, MeterQuery.parse(request.query)),
    ])
    return show(reply, {
      title: product.name,
      nav: 'products',
      content: () => productView(product, { unlicensed, releases, seatUse, meteredUse }, rights),
    })
  })
}
