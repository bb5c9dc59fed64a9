import { z } from 'zod'
import { findIntegration } from '../../../projections/integrations.ts'
import { type Changed, type Rotation, rotateSecret } from '../../commands/integrations/integrations.ts'
import type { KnownIntegration } from '../../domain/integrations/integration.ts'
import { Provider, ProviderCredential } from '../../domain/integrations/provider.ts'
import { Refusal } from '../../domain/refusal.ts'
import type { Ports } from '../../ports.ts'
import { gatedOperation } from '../operation.ts'

const input = z.object({
  params: z.strictObject({
    provider: z.string().meta({
      description: `The payment provider: ${Provider.options.join(', ')}`,
      example: 'polar',
    }),
  }),
  body: z
    .strictObject({
      webhookSecret: ProviderCredential.optional().meta({
        description: 'The new secret from the provider; Gumroad has none and gets a new token instead',
      }),
    })
    .nullish()
    .meta({ example: { webhookSecret: 'pdl_ntfset_01gkdqbk...' } }),
})

type Input = z.infer<typeof input>

export const rotateProviderSecret = gatedOperation({
  name: 'integration.rotate-secret',
  title: "Rotate a payment provider's secret",
  method: 'POST',
  path: '/v1/integrations/{provider}/rotate-secret',
  scope: 'integrations:write',
  input,
  async check(ports, tenantId, request) {
    await find(ports, tenantId, request)
  },
  async describe(ports, tenantId, request) {
    const { provider, connectedAt, operationIds } = await find(ports, tenantId, request)
    return {
      summary: `Rotate the secret of the connection to ${provider}`,
      state: { connectedAt, changes: operationIds.length },
    }
  },
  async run(ports, tenantId, { params, body }, { id, origin }): Promise<Changed> {
    const provider = Provider.parse(params.provider)
    const rotation = rotationOf(provider, body?.webhookSecret)
    return rotateSecret(ports, tenantId, rotation, id, origin)
  },
})

/** @throws Refusal `provider_not_found`, `platform_secret`, `webhook_secret_wanted`, `webhook_secret_unwanted`, `integration_not_connected` */
async function find(
  ports: Ports<'db'>,
  tenantId: string,
  { params, body }: Pick<Input, 'params' | 'body'>,
): Promise<KnownIntegration> {
  const provider = Provider.safeParse(params.provider)
  if (!provider.success) throw new Refusal('provider_not_found')
  const integration = await findIntegration(ports.db, tenantId, provider.data)
  // An account that is connected through the platform has no secret of its own.
  if (provider.data === 'stripe' && !integration?.ownAccount) throw new Refusal('platform_secret')
  rotationOf(provider.data, body?.webhookSecret)
  if (integration?.status !== 'connected') throw new Refusal('integration_not_connected')
  return integration
}

/** @throws Refusal `webhook_secret_wanted`, `webhook_secret_unwanted` */
function rotationOf(provider: Provider, webhookSecret: string | undefined): Rotation {
  if (provider !== 'gumroad') {
    if (webhookSecret === undefined) throw new Refusal('webhook_secret_wanted')
    return { provider, webhookSecret }
  }
  if (webhookSecret !== undefined) throw new Refusal('webhook_secret_unwanted')
  return { provider }
}
