import type { FastifyInstance, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { type LicenseEntry, listLicenses } from '../../../projections/licenses/queries.ts'
import { listProducts } from '../../../projections/products/queries.ts'
import { countUnlicensed } from '../../../projections/trials/queries.ts'
import { momentOf, type Services } from '../../commands/services.ts'
import { Slug } from '../../domain/values.ts'
import { nobody } from '../../vault/subjects.ts'
import { licenseView as licenseOf } from '../management/license-schemas.ts'
import { notFound } from '../problem.ts'
import { productChoices, queryOf } from './lists.ts'
import type { PageContext } from './page-context.ts'
import { lookingAt, principalOf } from './principal.ts'
import { licensesView } from './views/licenses.ts'
import { productsView, productView } from './views/products.ts'

const member = { config: { page: 'member' }, schema: { hide: true } } as const
const pageSize = 50

const Status = z.enum(['active', 'fallback', 'expired', 'revoked'])

type OneRequest = FastifyRequest<{ Params: { id: string } }>

/** Products and licenses: only to look at, since programs change them. */
export function recordPages(app: FastifyInstance, context: PageContext): void {
  licensePages(app, context)
  productPages(app, context)
}

export async function shownLicenses(services: Services, tenantId: string, entries: readonly LicenseEntry[]) {
  const now = momentOf(services)
  const holders = entries.map(({ license }) => license.holder)
  const people = await services.subjects.openPeople(tenantId, holders)
  return entries.map((entry, index) => licenseOf(entry, people[index] ?? nobody, now))
}

function licensePages(app: FastifyInstance, { services, cursors, show }: PageContext): void {
  app.get('/licenses', lookingAt('licenses'), async (request, reply) => {
    const { tenantId } = principalOf(request)
    const { cursor, product, status: asked } = queryOf(request)
    const productId = Slug.safeParse(product).data
    const status = Status.safeParse(asked).data
    const boundTo = [tenantId, 'dashboard licenses', productId ?? null, status ?? null]
    const keyset = { after: cursors.read(boundTo, cursor), limit: pageSize }
    const found = await listLicenses(services.db, tenantId, { productId, status }, momentOf(services), keyset)
    const licenses = await shownLicenses(services, tenantId, found.items)
    const products = await productChoices(services, tenantId)
    return show(reply, {
      title: 'Licenses',
      nav: 'licenses',
      content: (view) =>
        licensesView(view, {
          licenses,
          products,
          filter: { product: productId, status },
          cursor,
          next: cursors.write(boundTo, found.next),
        }),
    })
  })
}

function productPages(app: FastifyInstance, { services, cursors, show }: PageContext): void {
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
