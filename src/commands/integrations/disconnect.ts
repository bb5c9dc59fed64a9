import { findIntegration } from '../../../projections/integrations.ts'
import type { KnownIntegration } from '../../domain/integrations/integration.ts'
import type { Provider } from '../../domain/integrations/provider.ts'
import type { Ports } from '../../ports.ts'
import type { Origin } from '../origin.ts'
import { disconnectCardAccount } from './card-account.ts'
import { removeAll } from './endpoints.ts'
import { disconnect } from './integrations.ts'

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
  { status, tenantId, provider, endpointId: id, credentials }: KnownIntegration,
): Promise<FormerEndpoint | null> {
  if (status !== 'connected' || id === undefined || provider === 'gumroad') return null
  const key = credentials.apiKey === null ? undefined : await secrets.open(tenantId, credentials.apiKey)
  if (key === undefined) return { id, removed: false }
  return { id, removed: (await removeAll(providers.endpoints(provider, key), [{ id }])) === 1 }
}
