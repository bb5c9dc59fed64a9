import type { FastifyInstance, FastifyReply } from 'fastify'
import type { PresentProduct } from '../../../projections/products/queries.ts'
import { listReleases as readReleases } from '../../../projections/products/releases.ts'
import { listReleases } from '../../commands/products.ts'
import { sameJson } from '../../domain/equality.ts'
import type { Release } from '../../domain/products/releases.ts'
import { changedMeanwhile, type FilledForm, newForm, readForm } from '../forms/filled-form.ts'
import { pageRoute } from '../frame/page-route.ts'
import type { PageContext } from '../page-context.ts'
import { originOfMember } from '../session/principal.ts'
import { redirectWith } from '../session/redirect-with.ts'
import { aboveIn, type ProductRequest, productOf } from './product-of-page.ts'
import { isWritable, ReleasesForm, releaseLines } from './releases-form.ts'
import { releasesFormView } from './releases-view.ts'

const manage = pageRoute({ page: 'manage_products' })

/** Where the list of a product's releases is edited. */
export function releasePages(app: FastifyInstance, { ports, show }: PageContext): void {
  const page = (reply: FastifyReply, product: PresentProduct, listed: readonly Release[], form: FilledForm) =>
    show(reply, {
      title: 'Releases',
      nav: 'products',
      trail: aboveIn(product),
      content: ({ token }) => releasesFormView({ token, product, writable: isWritable(listed) }, form),
      form,
    })

  app.get('/products/:id/releases', manage, async (request: ProductRequest, reply) => {
    const product = await productOf(ports, request)
    const listed = await readReleases(ports.db, product.tenantId, product.productId)
    const form = newForm({ releases: releaseLines(listed), seen: product.updatedAt })
    return page(reply, product, listed, form)
  })

  app.post('/products/:id/releases', manage, async (request: ProductRequest, reply) => {
    const product = await productOf(ports, request)
    const listed = await readReleases(ports.db, product.tenantId, product.productId)
    const { filled, data } = readForm(ReleasesForm, request)
    if (!data) return page(reply, product, listed, filled)
    if (data.seen !== product.updatedAt && !sameJson(data.releases, listed)) {
      return page(reply, product, listed, changedMeanwhile(filled, 'The product was', product.updatedAt))
    }
    await listReleases(ports, product, data.releases, originOfMember(request))
    return redirectWith(reply, `/dashboard/products/${product.productId}`, 'Releases saved.')
  })
}
