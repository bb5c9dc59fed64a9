import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { findIntegration } from '../../../projections/integrations.ts'
import { listProductsSold, type PresentProduct } from '../../../projections/products/queries.ts'
import { mapPrices } from '../../commands/checkout/prices.ts'
import { startOnboarding } from '../../commands/integrations/card-account.ts'
import { disconnectProvider, type FormerEndpoint } from '../../commands/integrations/endpoints.ts'
import {
  type Connection,
  connectMarketplace,
  mapItem,
  unmapItem,
} from '../../commands/integrations/integrations.ts'
import { connectOwnAccount } from '../../commands/integrations/own-account.ts'
import type { Origin } from '../../commands/origin.ts'
import { isId, newId } from '../../credentials/id.ts'
import { SoldId } from '../../domain/integrations/mapping.ts'
import { Provider, ProviderCredential, providerNames } from '../../domain/integrations/provider.ts'
import { Refusal } from '../../domain/refusal.ts'
import { Slug } from '../../domain/values.ts'
import { rotateProviderSecret } from '../../gate/operations/rotate-provider-secret.ts'
import { notFound } from '../../http/problem.ts'
import { onboardingAddresses } from '../../payments/addresses.ts'
import { ProviderRefused, ProviderUnavailable } from '../../payments/errors.ts'
import type { Ports } from '../../ports.ts'
import { readArrivals } from '../../usage/arrivals.ts'
import { readUseReports } from '../../usage/use-reports.ts'
import { type FilledForm, newForm, readForm, withProblem } from '../forms/filled-form.ts'
import { refusedForm, sentenceOf, sentenceOfProvider } from '../forms/refused.ts'
import { pageRoute } from '../frame/page-route.ts'
import { productChoices } from '../lists/lists.ts'
import type { PageContext } from '../page-context.ts'
import { originOfMember, principalOf } from '../session/principal.ts'
import { redirectWith } from '../session/redirect-with.ts'
import type { FlashMessage } from '../session/session.ts'
import { onboardingView, pingUrlView, providerView, rotateView } from './provider-view.ts'
import { useReportsForm } from './use-reports.ts'
import { arrivalPart } from './view.ts'

const member = pageRoute({ page: 'integrations:read' })
const manage = pageRoute({ page: 'manage_connections' })
/** A provider may take longer to answer than a page. */
const manageThere = pageRoute({ page: 'manage_connections', noRequestTimeout: true })
const path = '/dashboard/integrations'

export type ProviderRequest = FastifyRequest<{ Params: { provider: string } }>

const trail = [{ label: 'Integrations', href: path }]

/** A page for each provider: how to connect it, what is missing, and its mappings. */
export function providerPages(app: FastifyInstance, context: PageContext): void {
  app.get('/integrations/:provider', member, (request: ProviderRequest, reply) =>
    providerPage(context, request, reply, newForm()),
  )
  arrivalRoute(app, context)
  connectForms(app, context)
  rotateForms(app, context)
  mappingForms(app, context)
  useReportsForm(app, context)
}

/** The provider in a page's address. @throws Problem 404 */
export function providerOf({ params }: ProviderRequest): Provider {
  const provider = Provider.safeParse(params.provider).data
  if (!provider) throw notFound('provider')
  return provider
}

/** The page of a provider, with a form that was filled in. */
export async function providerPage(
  { ports, show, baseUrl }: PageContext,
  request: ProviderRequest,
  reply: FastifyReply,
  form: FilledForm,
): Promise<FastifyReply> {
  const provider = providerOf(request)
  const { tenantId } = principalOf(request)
  const [integration, products, arrivals, useReports] = await Promise.all([
    findIntegration(ports.db, tenantId, provider),
    productChoices(ports, tenantId),
    readArrivals(ports.db, tenantId, provider),
    provider === 'stripe' ? readUseReports(ports.db, tenantId) : undefined,
  ])
  const sold = integration ? await listProductsSold(ports.db, tenantId, integration) : []
  const { hasPlatformKey, platformFeeBasisPoints } = ports.providers
  const shown = {
    tenantId,
    provider,
    integration,
    products,
    sold,
    arrivals,
    useReports,
    baseUrl,
    operation: newId('req'),
  }
  return show(reply, {
    title: providerNames[provider],
    nav: 'integrations',
    trail,
    content: (view) =>
      providerView(view, { ...shown, platform: { hasPlatformKey, platformFeeBasisPoints }, form }),
    form,
  })
}

function arrivalRoute(app: FastifyInstance, { ports, showPart }: PageContext): void {
  const background = pageRoute({ page: 'integrations:read', background: true })
  app.get('/integrations/:provider/arrival', background, async (request: ProviderRequest, reply) => {
    const provider = providerOf(request)
    const { tenantId } = principalOf(request)
    const integration = await findIntegration(ports.db, tenantId, provider)
    if (integration?.status !== 'connected') throw notFound('connection')
    const arrivals = await readArrivals(ports.db, tenantId, provider)
    return showPart(reply, ({ now }) => arrivalPart(integration, arrivals, now))
  })
}

const operation = z.string().refine((id) => isId('req', id))
const credential = z
  .string()
  .trim()
  .refine(
    (text) => ProviderCredential.safeParse(text).success,
    'Paste it without spaces, up to 500 characters.',
  )
const optionalCredential = z
  .string()
  .trim()
  .optional()
  .transform((text) => (text === '' ? undefined : text))
  .pipe(credential.optional())

const ConnectForm = z.object({
  operation,
  webhookSecret: z.string().trim().optional().default(''),
  apiKey: optionalCredential,
})

function connectForms(app: FastifyInstance, context: PageContext): void {
  const { ports, show, baseUrl } = context
  app.post('/integrations/:provider/connect', manage, async (request: ProviderRequest, reply) => {
    const provider = providerOf(request)
    const { filled, data } = readForm(ConnectForm, request)
    // What was typed is a secret, so it is not shown again.
    const again = ({ problems }: FilledForm) => providerPage(context, request, reply, { typed: {}, problems })
    if (!data) return again(filled)
    const wrong = wrongSecret(provider, data.webhookSecret)
    if (wrong !== undefined) return again(withProblem(filled, 'webhookSecret', wrong))
    if (provider === 'stripe' && data.apiKey === undefined) {
      return again(withProblem(filled, 'apiKey', 'Paste the restricted key.'))
    }
    try {
      const { tenantId } = principalOf(request)
      const pingToken = await connect(ports, tenantId, provider, data, originOfMember(request))
      if (pingToken !== undefined) {
        const content = () => pingUrlView(baseUrl, tenantId, pingToken)
        return show(reply, { title: 'Ping URL', nav: 'integrations', trail, content })
      }
    } catch (error) {
      return again(withProblemOf(error, filled))
    }
    return redirectWith(reply, `${path}/${provider}`, `${providerNames[provider]} is connected.`)
  })

  app.post('/integrations/stripe/onboarding', manage, async (request: FastifyRequest, reply) => {
    const { tenantId } = principalOf(request)
    try {
      const addresses = onboardingAddresses(baseUrl, tenantId)
      const url = await startOnboarding(ports, tenantId, addresses, originOfMember(request))
      const content = () => onboardingView(url)
      return show(reply, { title: 'Stripe onboarding', nav: 'integrations', trail, content })
    } catch (error) {
      const { problems } = withProblemOf(error, newForm())
      return redirectWith(reply, `${path}/stripe`, {
        kind: 'wrong',
        text: problems.form ?? problems.apiKey ?? '',
      })
    }
  })

  app.post('/integrations/:provider/disconnect', manageThere, async (request: ProviderRequest, reply) => {
    const provider = providerOf(request)
    const { tenantId } = principalOf(request)
    const endpoint = await disconnectProvider(ports, tenantId, provider, originOfMember(request))
    return redirectWith(reply, `${path}/${provider}`, disconnectedWords(providerNames[provider], endpoint))
  })
}

function disconnectedWords(name: string, endpoint: FormerEndpoint | null): FlashMessage {
  if (endpoint === null) return { kind: 'done', text: `${name} is disconnected.` }
  if (endpoint.removed)
    return { kind: 'done', text: `${name} is disconnected, and the endpoint was removed there.` }
  return {
    kind: 'wrong',
    text: `${name} is disconnected, but did not remove the endpoint ${endpoint.id}. Remove it at ${name}.`,
  }
}

function wrongSecret(provider: Provider, webhookSecret: string): string | undefined {
  if (provider === 'gumroad') return undefined
  return ProviderCredential.safeParse(webhookSecret).success
    ? undefined
    : 'Paste the secret, without spaces and up to 500 characters.'
}

type ConnectPorts = Ports<'db' | 'execute' | 'now' | 'providers' | 'randomBytes' | 'secrets'>

/** @returns the token of gumroad's ping URL, which is shown once */
async function connect(
  ports: ConnectPorts,
  tenantId: string,
  provider: Provider,
  { operation: id, webhookSecret, apiKey }: z.infer<typeof ConnectForm>,
  origin: Origin,
): Promise<string | undefined> {
  if (provider === 'stripe') {
    await connectOwnAccount(ports, tenantId, { apiKey: apiKey ?? '', webhookSecret }, id, origin)
    return undefined
  }
  const connection: Connection = provider === 'gumroad' ? { provider } : { provider, webhookSecret, apiKey }
  return (await connectMarketplace(ports, tenantId, connection, id, origin)).pingToken
}

/** What the provider or a rule refused, beside its field. @throws any other error */
function withProblemOf(error: unknown, form: FilledForm): FilledForm {
  if (error instanceof ProviderRefused || error instanceof ProviderUnavailable) {
    return withProblem(form, error instanceof ProviderRefused ? 'apiKey' : 'form', sentenceOfProvider(error))
  }
  return refusedForm(error, form, { restricted_key_wanted: ['apiKey', sentenceOf('restricted_key_wanted')] })
}

const RotateForm = z.object({ operation, webhookSecret: z.string().trim().optional().default('') })

/** A new secret takes the place of the former one with the same rules as an approved API request. */
function rotateForms(app: FastifyInstance, { ports, show, baseUrl }: PageContext): void {
  const shown = (request: ProviderRequest, reply: FastifyReply, form: FilledForm) => {
    const provider = providerOf(request)
    return show(reply, {
      title: 'New secret',
      nav: 'integrations',
      trail: [...trail, { label: providerNames[provider], href: `${path}/${provider}` }],
      content: ({ token }) => rotateView(token, provider, newId('req'), form),
      form,
    })
  }
  const proven = pageRoute({ page: 'manage_connections', proof: 'open' })
  app.get('/integrations/:provider/secret', proven, (request: ProviderRequest, reply) =>
    shown(request, reply, newForm()),
  )
  app.post('/integrations/:provider/secret', proven, async (request: ProviderRequest, reply) => {
    const provider = providerOf(request)
    const { filled, data } = readForm(RotateForm, request)
    const again = ({ problems }: FilledForm) => shown(request, reply, { typed: {}, problems })
    if (!data) return again(filled)
    const wrong = wrongSecret(provider, data.webhookSecret)
    if (wrong !== undefined) return again(withProblem(filled, 'webhookSecret', wrong))
    const { tenantId } = principalOf(request)
    const body = provider === 'gumroad' ? null : { webhookSecret: data.webhookSecret }
    const input = { parameters: { provider }, query: {}, body }
    try {
      await rotateProviderSecret.check(ports, tenantId, input)
      const run = { id: data.operation, origin: originOfMember(request) }
      const { pingToken } = await rotateProviderSecret.run(ports, tenantId, input, run)
      if (pingToken !== undefined) {
        const content = () => pingUrlView(baseUrl, tenantId, pingToken)
        return show(reply, { title: 'Ping URL', nav: 'integrations', trail, content })
      }
    } catch (error) {
      return again(refusedForm(error, filled))
    }
    return redirectWith(reply, `${path}/${provider}`, 'The new secret is in use.')
  })
}

const MapForm = z.object({
  item: z
    .string()
    .trim()
    .refine((text) => SoldId.safeParse(text).success, 'Enter one ID, without spaces.'),
  sold: z.string().regex(/^[^/]+\/[^/]+$/, 'Choose a key type.'),
})
const UnmapForm = z.object({ item: z.string().max(255) })

function mappingForms(app: FastifyInstance, context: PageContext): void {
  const { ports } = context
  app.post('/integrations/:provider/map', manage, async (request: ProviderRequest, reply) => {
    const provider = providerOf(request)
    const { filled, data } = readForm(MapForm, request)
    const again = (form: FilledForm) => providerPage(context, request, reply, form)
    if (!data) return again(filled)
    const [productId = '', keyTypeId = ''] = data.sold.split('/')
    const { tenantId } = principalOf(request)
    const known = Slug.safeParse(productId).data
    const product = known && (await ports.findProduct(tenantId, known))
    if (!product) return again(withProblem(filled, 'sold', 'Choose a key type.'))
    try {
      await map(ports, product, provider, { item: data.item, keyTypeId }, originOfMember(request))
    } catch (error) {
      if (error instanceof ProviderRefused || error instanceof ProviderUnavailable) {
        return again(withProblem(filled, 'item', sentenceOfProvider(error)))
      }
      const wrong = 'Stripe has no such price, or has archived it.'
      return again(refusedForm(error, filled, { mapping_price_not_found: ['item', wrong] }))
    }
    return redirectWith(reply, `${path}/${provider}`, `${data.item} is mapped.`)
  })

  app.post('/integrations/:provider/unmap', manage, async (request: ProviderRequest, reply) => {
    const provider = providerOf(request)
    const { item } = UnmapForm.safeParse(request.body).data ?? { item: '' }
    try {
      await unmapItem(ports, principalOf(request).tenantId, provider, item, originOfMember(request))
    } catch (error) {
      if (!(error instanceof Refusal)) throw error
      return redirectWith(reply, `${path}/${provider}`, { kind: 'wrong', text: sentenceOf(error.code) })
    }
    return redirectWith(reply, `${path}/${provider}`, `${item} is no longer mapped.`)
  })
}

/** A price of Stripe becomes part of its key type; everything else is a mapping of the provider. */
async function map(
  ports: Ports<'db' | 'execute' | 'findProduct' | 'now' | 'providers' | 'secrets'>,
  product: PresentProduct,
  provider: Provider,
  { item, keyTypeId }: { item: string; keyTypeId: string },
  origin: Origin,
): Promise<void> {
  if (provider !== 'stripe' || item.startsWith('plink_')) {
    await mapItem(ports, product, provider, { item, keyTypeId }, origin)
    return
  }
  const others = product.keyTypes.flatMap(({ keyTypeId: id, price }): [string, string][] =>
    price ? [[id, price.priceId]] : [],
  )
  await mapPrices(ports, product, { ...Object.fromEntries(others), [keyTypeId]: item }, origin)
}
