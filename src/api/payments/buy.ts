import type { FastifyReply, FastifyRequest, onRequestAsyncHookHandler } from 'fastify'
import { z } from 'zod'
import { findPortal } from '../../../projections/portal.ts'
import { type CheckoutPorts, openCheckout, purchasable } from '../../commands/checkout/checkout.ts'
import { acceptedLanguage } from '../../domain/portal/languages.ts'
import { Refusal } from '../../domain/refusal.ts'
import { money } from '../../history/changes.ts'
import { Problem } from '../../http/problem.ts'
import type { ZodApp } from '../../http/validation.ts'
import { callerOf } from '../../limits/address.ts'
import type { Limits } from '../../limits/limits.ts'
import { ProviderRefused, ProviderUnavailable } from '../../payments/errors.ts'
import type { Ports } from '../../ports.ts'
import { passOverReserved } from '../client/edge.ts'
import { refuseInactive } from './checkout.ts'
import { publicProduct } from './pricing.ts'

const path = '/:tenantId/:productId/buy/:keyTypeId'
const SoldKeyType = z.object({ tenantId: z.string(), productId: z.string(), keyTypeId: z.string() })
const Quantity = z.coerce.number().int().min(1).max(100_000)

const common = {
  config: { foreignQuery: 'in links' },
  onRequest: passOverReserved,
  schema: { hide: true },
} as const

const addressOf = (
  baseUrl: string,
  { tenantId, productId, keyTypeId }: z.infer<typeof SoldKeyType>,
): string => `${baseUrl}/${tenantId}/${productId}/buy/${keyTypeId}`

type Shown = { status: number; title: string; text: string }

/**
 * A purchase link that a vendor can publish: a page with one button, which leads to the card provider. Opening the
 * page has no effect, so that link previews buy nothing.
 */
export function buyPages(
  app: ZodApp,
  ports: CheckoutPorts & Ports<'findProduct'>,
  limits: Limits,
  baseUrl: string,
): void {
  void app.register(async (pages: ZodApp) => {
    pages.removeAllContentTypeParsers()
    pages.addContentTypeParser('*', { parseAs: 'string' }, (_request, body, done) => done(null, body))
    pages.get(path, common, (request, reply) =>
      shown(reply, () => offer(ports, SoldKeyType.parse(request.params), baseUrl)),
    )
    pages.get(`${path}/done`, common, (_request, reply) => page(reply, thanks))
    const onRequest = [common.onRequest, allowing(limits)]
    pages.post(path, { ...common, onRequest }, (request, reply) =>
      shown(reply, () => bought(ports, request, baseUrl)),
    )
  })
}

/** Counts a purchase against the limit of its address, before the form is read. */
const allowing =
  ({ checkout }: Limits): onRequestAsyncHookHandler =>
  async (request, reply) => {
    const waitMs = await checkout?.take(`buy.${callerOf(request.ip)}`)
    if (waitMs) return page(reply, tooMany)
  }

async function offer(
  ports: Ports<'db' | 'findProduct' | 'secrets'>,
  { tenantId, productId, keyTypeId }: z.infer<typeof SoldKeyType>,
  baseUrl: string,
): Promise<Shown> {
  const { product, tenantStatus } = await publicProduct(ports, tenantId, productId)
  refuseInactive(tenantStatus)
  const sold = (await purchasable(ports, product)).find(({ keyType }) => keyType.keyTypeId === keyTypeId)
  if (!sold) return notForSale
  const { keyType, amount, currency, interval } = sold
  const most = keyType.maxQuantity === null ? '' : ` max="${keyType.maxQuantity}"`
  const seats = `<p><label>Seats <input type="number" name="quantity" value="1" min="1"${most} required></label></p>`
  const every = interval === null ? '' : ` every ${escaped(interval)}`
  return {
    status: 200,
    title: product.name,
    text: `<p>${escaped(keyType.name)}: ${escaped(money(amount, currency))}${every}</p>
<form method="post" action="${escaped(addressOf(baseUrl, { tenantId, productId, keyTypeId }))}">
${keyType.sellInMultiples ? seats : ''}
<p><button>Buy</button></p>
</form>`,
  }
}

/** @returns the URL of the payment page */
async function bought(
  ports: CheckoutPorts & Ports<'findProduct'>,
  request: FastifyRequest,
  baseUrl: string,
): Promise<string | Shown> {
  const { tenantId, productId, keyTypeId } = SoldKeyType.parse(request.params)
  const { product, tenantStatus } = await publicProduct(ports, tenantId, productId)
  refuseInactive(tenantStatus)
  const form = new URLSearchParams(typeof request.body === 'string' ? request.body : '')
  const quantity = Quantity.safeParse(form.get('quantity') ?? 1)
  if (!quantity.success) return quantityRefused
  const { addedLanguages } = await findPortal(ports.db, tenantId)
  const here = addressOf(baseUrl, { tenantId, productId, keyTypeId })
  return openCheckout(ports, product, {
    keyTypeId,
    quantity: quantity.data,
    successUrl: `${here}/done`,
    cancelUrl: here,
    language: acceptedLanguage(request.headers['accept-language'] ?? '', addedLanguages),
  })
}

const notForSale = {
  status: 404,
  title: 'Not for sale',
  text: '<p>This product is not for sale at the moment.</p>',
}
const quantityRefused = {
  status: 422,
  title: 'Quantity not available',
  text: '<p>This product is not sold in this quantity.</p>',
}
const later = {
  status: 503,
  title: 'Checkout unavailable',
  text: '<p>Payment is not possible right now. Please try again.</p>',
}
const tooMany = { status: 429, title: 'Too many requests', text: '<p>Please try again in a minute.</p>' }
const thanks = {
  status: 200,
  title: 'Thank you',
  text: '<p>We email you the license key as soon as the payment is complete.</p>',
}

/** People get a page, also for a refusal. */
async function shown(reply: FastifyReply, work: () => Promise<string | Shown>): Promise<FastifyReply> {
  try {
    const result = await work()
    if (typeof result !== 'string') return page(reply, result)
    return reply.redirect(result, 303)
  } catch (error) {
    if (error instanceof Problem && error.status < 500) return page(reply, notForSale)
    if (error instanceof Refusal)
      return page(reply, error.code.startsWith('quantity_') ? quantityRefused : notForSale)
    if (error instanceof ProviderUnavailable || error instanceof ProviderRefused) return page(reply, later)
    throw error
  }
}

const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')

function page(reply: FastifyReply, { status, title, text }: Shown): FastifyReply {
  return reply
    .code(status)
    .headers({
      'content-type': 'text/html; charset=utf-8',
      // The form redirects to the card provider, which form-action has to allow.
      'content-security-policy': "default-src 'none'; form-action 'self' https:; frame-ancestors 'none'",
      'referrer-policy': 'no-referrer',
      ...((status === 503 || status === 429) && { 'retry-after': '60' }),
    })
    .serializer((html: unknown) => String(html))
    .send(
      `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>${escaped(title)}</title>
<h1>${escaped(title)}</h1>
${text}
</html>
`,
    )
}
