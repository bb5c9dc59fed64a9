import { findIntegration } from '../../../projections/integrations.ts'
import type { IntegrationCommand, KnownIntegration } from '../../domain/integrations/integration.ts'
import type { Provider, ProviderWithApi } from '../../domain/integrations/provider.ts'
import { Refusal } from '../../domain/refusal.ts'
import type { ProviderEndpoints } from '../../payments/endpoints.ts'
import { ProviderRefused, ProviderUnavailable } from '../../payments/errors.ts'
import { paymentProviders } from '../../payments/registry.ts'
import type { Ports } from '../../ports.ts'
import { withTenantLock } from '../cross-stream/tenant-lock.ts'
import type { Origin } from '../origin.ts'
import { apiKeyOf } from './api-key.ts'
import { disconnectCardAccount } from './card-account.ts'
import { type Change, changeWith, disconnect, keepSecret } from './integrations.ts'
import { connectCardKey, modeOfRestrictedKey } from './own-account.ts'

type EndpointPorts = Ports<'db' | 'execute' | 'now' | 'providers' | 'randomBytes' | 'secrets'>

export type EndpointInput = {
  tenantId: string
  provider: ProviderWithApi
  apiKey: string
  /** The URL of this installation that the provider shall call. */
  address: string
  /** Whether an endpoint with this address that cannot be used may be replaced. */
  replace: boolean
  /** At Lemon Squeezy, for an account with several stores. */
  store: string | undefined
}

export type ConnectedEndpoint = {
  integration: KnownIntegration
  endpoint: {
    /** Its id at the provider. */
    id: string
    /** False where an endpoint was there already, and its secret could be read. */
    created: boolean
    /** How many former endpoints with this address were removed, and how many could not be. */
    removed: number
    left: number
  } | null
}

/**
 * Connects a provider with an API key alone: keyledger creates the endpoint there and stores its secret. An endpoint with the
 * address that is complete, and whose secret the provider shows, is used as it is. Others are replaced where
 * `replace` allows it: the new one is created and recorded before they are removed, so that a crash loses no
 * connection. What a crash leaves has our address, and is found the next time.
 * @returns without `endpoint` when the operation was carried out before
 * @throws Refusal `integration_connected`, `provider_endpoint_exists`, `restricted_key_wanted`
 * @throws ProviderRefused, ProviderUnavailable, StoreWanted; nothing is connected then
 */
export async function connectWithEndpoint(
  ports: EndpointPorts,
  input: EndpointInput,
  operationId: string,
  origin: Origin,
): Promise<ConnectedEndpoint> {
  const { tenantId, provider, apiKey, address, store } = input
  if (provider === 'stripe') modeOfRestrictedKey(apiKey)
  // Two requests at once would each create an endpoint.
  return withTenantLock(ports.db, tenantId, 'provider endpoints', async () => {
    const known = await findIntegration(ports.db, tenantId, provider)
    if (known?.operationIds.includes(operationId)) return { integration: known, endpoint: null }
    if (known?.status === 'connected') throw new Refusal('integration_connected')
    await ports.providers.checkApiKey(provider, apiKey)
    const endpoints = ports.providers.endpoints(provider, apiKey, store)
    const events = paymentProviders[provider].events
    const present = await endpoints.find(address, events)
    const usable = present.find(({ secret, isComplete }) => secret !== null && isComplete)
    if (!usable && present.length > 0 && !input.replace) throw new Refusal('provider_endpoint_exists')
    const own = { address, events, secret: secretFor(ports) }
    const used = usable ?? (await endpoints.create(own))
    const secret = used.secret ?? own.secret
    const isOwn = usable?.isNamedSo ?? true
    const integration = await record(ports, input, { id: used.id, secret, isOwn }, operationId, origin).catch(
      async (error: unknown) => {
        // Nothing was recorded. After another error that is not certain, and the endpoint stays.
        if (error instanceof Refusal && !usable) await endpoints.remove(used.id).catch(() => undefined)
        throw error
      },
    )
    const former = usable ? [] : present
    const removed = await removeAll(endpoints, former)
    const left = former.length - removed
    return { integration, endpoint: { id: used.id, created: !usable, removed, left } }
  })
}

/** For a provider that takes a secret: Lemon Squeezy allows 40 characters. */
const secretFor = ({ randomBytes }: Ports<'randomBytes'>): string =>
  Buffer.from(randomBytes(30)).toString('base64url')

/** Seals the credentials and records the connection, as when they are pasted. */
async function record(
  ports: EndpointPorts,
  { tenantId, provider, apiKey }: EndpointInput,
  { id, secret, isOwn }: { id: string; secret: string; isOwn: boolean },
  operationId: string,
  origin: Origin,
): Promise<KnownIntegration> {
  const change = { tenantId, provider, operationId } as const
  // A repetition after a crash may have another endpoint, with another secret.
  const ofEndpoint: Change = { ...change, operationId: `${operationId}.${id}` }
  const names = {
    apiKey: await keepSecret(ports, change, 'apiKey', apiKey),
    webhookSecret: await keepSecret(ports, ofEndpoint, 'webhookSecret', secret),
  }
  const endpointId = isOwn ? id : undefined
  const command: (at: string) => IntegrationCommand =
    provider === 'stripe'
      ? connectCardKey(change, apiKey, { ...names, endpointId })
      : (at) => ({
          type: 'ConnectMarketplace',
          tenantId,
          provider,
          operationId,
          credentials: { ...names, pingToken: null },
          endpointId,
          at,
        })
  return changeWith(ports, change, Object.values(names), origin, command)
}

/** @returns how many were removed: the connection works without it, so a failure is reported and no error */
async function removeAll(endpoints: ProviderEndpoints, former: readonly { id: string }[]): Promise<number> {
  let removed = 0
  for (const { id } of former) {
    try {
      await endpoints.remove(id)
      removed++
    } catch (error) {
      if (!(error instanceof ProviderRefused || error instanceof ProviderUnavailable)) throw error
    }
  }
  return removed
}

/** An endpoint that keyledger created at a provider. */
export type FormerEndpoint = {
  /** Its id there. */
  id: string
  /** False where the provider did not remove it: a person has to. */
  removed: boolean
}

/**
 * Removes a connection, and first the endpoint that keyledger created at the provider, while its key is there. When that
 * fails, the connection is removed all the same. A repetition after a crash finds the endpoint removed.
 * @returns the endpoint; null where keyledger created none
 */
export async function disconnectProvider(
  ports: Ports<'db' | 'execute' | 'now' | 'providers' | 'secrets'>,
  tenantId: string,
  provider: Provider,
  origin: Origin,
): Promise<FormerEndpoint | null> {
  const known = await findIntegration(ports.db, tenantId, provider)
  const endpoint = known ? await removeEndpoint(ports, known) : null
  if (provider === 'stripe') await disconnectCardAccount(ports, tenantId, origin)
  else await disconnect(ports, tenantId, provider, origin)
  return endpoint
}

async function removeEndpoint(
  { providers, secrets }: Ports<'providers' | 'secrets'>,
  integration: KnownIntegration,
): Promise<FormerEndpoint | null> {
  const { status, provider, endpointId: id } = integration
  if (status !== 'connected' || id === undefined || provider === 'gumroad') return null
  const key = await apiKeyOf({ secrets }, integration)
  if (key === undefined) return { id, removed: false }
  return { id, removed: (await removeAll(providers.endpoints(provider, key), [{ id }])) === 1 }
}
