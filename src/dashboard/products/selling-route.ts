import type { FastifyInstance, FastifyReply } from 'fastify'
import { z } from 'zod'
import { findIntegration } from '../../../projections/integrations.ts'
import type { PresentProduct } from '../../../projections/products/queries.ts'
import { purchasable } from '../../commands/checkout/checkout.ts'
import { mapPrices, verifyPrices } from '../../commands/checkout/prices.ts'
import type { KeyType } from '../../domain/products/key-type.ts'
import { Refusal } from '../../domain/refusal.ts'
import { ProviderRefused, ProviderUnavailable } from '../../payments/errors.ts'
import { type FilledForm, newForm, readForm, typedIn, withProblem } from '../forms/filled-form.ts'
import { sentenceOf, sentenceOfProvider } from '../forms/refused.ts'
import { pageRoute } from '../frame/page-route.ts'
import type { PageContext } from '../page-context.ts'
import { originOfMember } from '../session/principal.ts'
import { redirectWith } from '../session/redirect-with.ts'
import { aboveIn, type ProductRequest, productOf } from './product-of-page.ts'
import { priceField, sellingView } from './selling-view.ts'

const manage = pageRoute({ page: 'manage_products' })

const sellingPath = ({ productId }: PresentProduct): string => `/dashboard/products/${productId}/selling`

/** Each key type has a field of its own name. */
const AnyForm = z.looseObject({})

const longestPriceId = 255

/** Where a product is sold: the card provider's price of each key type, and the addresses to buy at. */
export function sellingPages(app: FastifyInstance, { ports, show, baseUrl }: PageContext): void {
  const page = async (request: ProductRequest, reply: FastifyReply, form?: FilledForm) => {
    const product = await productOf(ports, request)
    const [sold, stripe] = await Promise.all([
      purchasable(ports, product),
      findIntegration(ports.db, product.tenantId, 'stripe'),
    ])
    const filled = form ?? pricesForm(product.keyTypes)
    return show(reply, {
      title: 'Selling',
      nav: 'products',
      trail: aboveIn(product),
      content: ({ token }) =>
        sellingView({
          token,
          product,
          form: filled,
          sold: new Set(sold.map(({ keyType }) => keyType.keyTypeId)),
          packs: stripe?.packs?.filter(({ productId }) => productId === product.productId) ?? [],
          pricingUrl: `${baseUrl}/${product.tenantId}/${product.productId}/pricing`,
        }),
      form: filled,
    })
  }

  app.get('/products/:id/selling', manage, (request: ProductRequest, reply) => page(request, reply))

  app.post('/products/:id/selling', manage, async (request: ProductRequest, reply) => {
    const product = await productOf(ports, request)
    const { filled } = readForm(AnyForm, request)
    const prices: Record<string, string> = {}
    for (const { keyTypeId } of product.keyTypes) {
      const priceId = typedIn(filled, priceField(keyTypeId)).trim()
      if (priceId.length > longestPriceId)
        return page(
          request,
          reply,
          withProblem(filled, priceField(keyTypeId), 'Enter at most 255 characters.'),
        )
      if (priceId !== '') prices[keyTypeId] = priceId
    }
    try {
      await mapPrices(ports, product, prices, originOfMember(request))
    } catch (error) {
      return page(request, reply, withProblem(filled, 'form', problemOf(error)))
    }
    return redirectWith(reply, sellingPath(product), 'Prices saved.')
  })

  app.post('/products/:id/selling/verify', manage, async (request: ProductRequest, reply) => {
    const product = await productOf(ports, request)
    try {
      const { skipped } = await verifyPrices(ports, product, originOfMember(request))
      const nothing = 'Nothing was verified: Stripe is not connected, or no key type has a price.'
      return redirectWith(
        reply,
        sellingPath(product),
        skipped ? { kind: 'wrong', text: nothing } : 'Prices verified.',
      )
    } catch (error) {
      return page(request, reply, withProblem(pricesForm(product.keyTypes), 'form', problemOf(error)))
    }
  })
}

const pricesForm = (keyTypes: readonly KeyType[]): FilledForm =>
  newForm(
    Object.fromEntries(keyTypes.map(({ keyTypeId, price }) => [priceField(keyTypeId), price?.priceId ?? ''])),
  )

/** What keeps prices from being saved. @throws the error itself when it is another failure */
function problemOf(error: unknown): string {
  if (error instanceof ProviderRefused || error instanceof ProviderUnavailable) {
    return sentenceOfProvider(error)
  }
  if (!(error instanceof Refusal)) throw error
  switch (error.code) {
    case 'integration_not_connected':
      return 'Stripe is not connected. Connect it under Integrations, or set test keys in test mode.'
    case 'test_keys_missing':
      return 'The product is in test mode without Stripe test keys. Set them on the page Test mode.'
    case 'mapping_price_not_found':
      return 'Stripe does not have one of these prices, or has archived it.'
    default:
      return sentenceOf(error.code)
  }
}
