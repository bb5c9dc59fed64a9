import type { FastifyInstance, FastifyRequest } from 'fastify'
import { findIntegration } from '../../../projections/integrations.ts'
import { listProductsSold } from '../../../projections/products/queries.ts'
import { listOffered } from '../../commands/integrations/offered.ts'
import type { KnownIntegration } from '../../domain/integrations/integration.ts'
import { Provider, providerNames } from '../../domain/integrations/provider.ts'
import { Refusal } from '../../domain/refusal.ts'
import { notFound } from '../../http/problem.ts'
import { ProviderRefused, ProviderUnavailable } from '../../payments/errors.ts'
import type { Offered } from '../../payments/offered.ts'
import type { Ports } from '../../ports.ts'
import { capitalized } from '../../sentence.ts'
import { sentenceOf, sentenceOfProvider } from '../forms/refused.ts'
import { pageRoute } from '../frame/page-route.ts'
import { productChoices } from '../lists/lists.ts'
import type { PageContext } from '../page-context.ts'
import { principalOf } from '../session/principal.ts'
import { offeredView } from './offered-view.ts'
import { itemWords, listingWords } from './steps.ts'

const path = '/dashboard/integrations'

type ProviderRequest = FastifyRequest<{ Params: { provider: string } }>

/** What the vendor sells at a connected provider, by name, to map it. */
export function offeredPage(app: FastifyInstance, { ports, show }: PageContext): void {
  const manage = pageRoute({ page: 'manage_connections' })
  app.get('/integrations/:provider/items', manage, async (request: ProviderRequest, reply) => {
    const provider = Provider.safeParse(request.params.provider).data
    if (!provider) throw notFound('provider')
    const { tenantId } = principalOf(request)
    const integration = await findIntegration(ports.db, tenantId, provider)
    if (integration?.status !== 'connected') throw notFound('connection')
    const [products, sold, offered] = await Promise.all([
      productChoices(ports, tenantId),
      listProductsSold(ports.db, tenantId, integration),
      offeredOrProblem(ports, integration),
    ])
    const { many } = itemWords[provider]
    return show(reply, {
      title: capitalized(many),
      nav: 'integrations',
      trail: [
        { label: 'Integrations', href: path },
        { label: providerNames[provider], href: `${path}/${provider}` },
      ],
      content: ({ token }) => offeredView(token, { integration, products, sold, offered }),
    })
  })
}

/** The list, or a sentence that says why there is none and what to do. */
async function offeredOrProblem(
  ports: Ports<'providers' | 'secrets'>,
  integration: KnownIntegration,
): Promise<Offered | string> {
  const { provider } = integration
  const name = providerNames[provider]
  try {
    const offered = await listOffered(ports, integration)
    return (
      offered ??
      `${name} is connected without an API key, so its ${itemWords[provider].many} cannot be listed.`
    )
  } catch (error) {
    if (error instanceof Refusal) return sentenceOf(error.code)
    if (error instanceof ProviderUnavailable) return `${name} did not answer in time. Try again.`
    if (error instanceof ProviderRefused) return refusedWords(error)
    throw error
  }
}

function refusedWords(error: ProviderRefused): string {
  const { provider, reason } = error
  const name = providerNames[provider]
  if (reason === 'key') {
    return `${name} rejects the key that it is connected with. Disconnect, and connect with a new one.`
  }
  if (reason === 'permission' && provider !== 'gumroad') {
    return `The key may not list ${itemWords[provider].many}. ${listingWords[provider]}`
  }
  return sentenceOfProvider(error)
}
