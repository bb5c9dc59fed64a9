import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { PresentProduct } from '../../../projections/products/queries.ts'
import { momentOf } from '../../commands/origin.ts'
import { changeProduct, createProduct } from '../../commands/products.ts'
import { newId } from '../../credentials/id.ts'
import { decideProduct, keyPrefixOf } from '../../domain/products/product.ts'
import { slugOf } from '../../domain/values.ts'
import { changedMeanwhile, type FilledForm, readForm, typedIn, withProblem } from '../forms/filled-form.ts'
import { runOnce } from '../forms/once.ts'
import { refusedForm } from '../forms/refused.ts'
import { pageRoute } from '../frame/page-route.ts'
import type { PageContext } from '../page-context.ts'
import { originOfMember, principalOf } from '../session/principal.ts'
import { redirectWith } from '../session/redirect-with.ts'
import { newKeyTypeOf } from './key-type-form.ts'
import {
  customerRules,
  NewProductForm,
  newProductForm,
  ProductForm,
  productForm,
  settingsOf,
} from './product-form.ts'
import { editProductView, newProductView } from './product-form-view.ts'
import { aboveIn, type ProductRequest, productOf } from './product-of-page.ts'

const manage = pageRoute({ page: 'manage_products' })

const path = '/dashboard/products'

/** Where products are created and changed. Test mode has a page of its own. */
export function productForms(app: FastifyInstance, context: PageContext): void {
  newProductPages(app, context)
  editPages(app, context)
}

const noIdFromName = 'No ID can be made from the name. Enter one.'

function newProductPages(app: FastifyInstance, { ports, show }: PageContext): void {
  const page = (reply: FastifyReply, form: FilledForm, operation = newId('req')) =>
    show(reply, {
      title: 'New product',
      nav: 'products',
      content: ({ token }) => newProductView(token, operation, form),
      form,
    })

  app.get('/new-product', manage, (_request, reply) => page(reply, newProductForm()))

  app.post('/products', manage, async (request: FastifyRequest, reply) => {
    const { filled, data } = readForm(NewProductForm, request)
    if (!data) return page(reply, filled, typedIn(filled, 'operation'))
    const productId = data.productId ?? slugOf(data.name)
    if (productId === '') return page(reply, withProblem(filled, 'productId', noIdFromName))
    const keyType = newKeyTypeOf(data)
    if (!keyType) return page(reply, withProblem(filled, 'keyTypeId', noIdFromName))
    const { tenantId, plan } = principalOf(request)
    const { name, keyPrefix = keyPrefixOf(name), freeTierEnabled, trialDurationDays, keyRecovery } = data
    try {
      await runOnce(ports, request, async (own, origin) => {
        const settings = { freeTierEnabled, trialDurationDays, keyRecovery, ...customerRules(data) }
        const input = { tenantId, plan, productId, name, keyPrefix, settings, keyTypes: [keyType] }
        await createProduct(own, input, origin)
        return null
      })
    } catch (error) {
      return page(
        reply,
        refusedForm(error, filled, {
          product_exists: [
            'productId',
            `There is a product with the ID ${productId} already. Enter another ID.`,
          ],
        }),
      )
    }
    return redirectWith(reply, `${path}/${productId}`, `${name} was created.`)
  })
}

function editPages(app: FastifyInstance, { ports, show }: PageContext): void {
  const page = (reply: FastifyReply, product: PresentProduct, form: FilledForm) =>
    show(reply, {
      title: 'Edit product',
      nav: 'products',
      trail: aboveIn(product),
      content: ({ token }) => editProductView(token, product.productId, form),
      form,
    })

  app.get('/products/:id/edit', manage, async (request: ProductRequest, reply) => {
    const product = await productOf(ports, request)
    return page(reply, product, productForm(product))
  })

  app.post('/products/:id/edit', manage, async (request: ProductRequest, reply) => {
    const product = await productOf(ports, request)
    const { tenantId, productId, updatedAt } = product
    const { filled, data } = readForm(ProductForm, request)
    if (!data) return page(reply, product, filled)
    const { name, keyPrefix } = data
    const input = { name, keyPrefix, settings: settingsOf(data) }
    const command = { type: 'ChangeProduct', ...input, at: momentOf(ports) } as const
    if (data.seen !== updatedAt && decideProduct(product, command).length > 0)
      return page(reply, product, changedMeanwhile(filled, 'The product was', updatedAt))
    await changeProduct(ports, tenantId, productId, input, originOfMember(request))
    return redirectWith(reply, `${path}/${productId}`, 'Product saved.')
  })
}
