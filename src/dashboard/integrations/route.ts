import type { FastifyInstance } from 'fastify'
import { readMaskedKeys } from '../../../projections/client-keys.ts'
import { listIntegrations } from '../../../projections/integrations.ts'
import { listProducts } from '../../../projections/products/queries.ts'
import { missingFor } from '../../domain/integrations/missing.ts'
import { Provider } from '../../domain/integrations/provider.ts'
import { pageRoute } from '../frame/page-route.ts'
import type { PageContext } from '../page-context.ts'
import { principalOf } from '../session/principal.ts'
import { integrationsView } from './view.ts'

/** More products than a workspace has; a mapping to a product beyond this limit would be shown as broken. */
const maxProducts = 1000

/**
 * The payment providers, and what each still lacks. Each has a page of its own, where it is connected.
 */
export function integrationPages(app: FastifyInstance, { ports, show }: PageContext): void {
  app.get('/integrations', pageRoute({ page: 'integrations:read' }), async (request, reply) => {
    const { tenantId } = principalOf(request)
    const [known, keys, { items: products }] = await Promise.all([
      listIntegrations(ports.db, tenantId),
      readMaskedKeys(ports.db, tenantId),
      listProducts(ports.db, tenantId, { after: undefined, limit: maxProducts }),
    ])
    const providers = Provider.options.map((provider) => {
      const integration = known.find((one) => one.provider === provider)
      const missing = missingFor(provider, {
        integration,
        products,
        hasCheckoutKey: keys.checkoutKey !== null,
        card: {
          hasPlatformKey: ports.providers.hasPlatformKey,
          hasNotificationSecret: ports.providers.cardWebhookSecret !== undefined,
        },
      })
      return { provider, integration, missing }
    })
    return show(reply, {
      title: 'Integrations',
      nav: 'integrations',
      content: (view) => integrationsView(view, { tenantId, providers, products }),
    })
  })
}
