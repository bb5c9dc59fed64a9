import type { KnownIntegration } from '../../domain/integrations/integration.ts'
import type { Ports } from '../../ports.ts'

/** The key of a connection; undefined where it has none, and once it was destroyed. */
export async function apiKeyOf(
  { secrets }: Ports<'secrets'>,
  { tenantId, credentials: { apiKey } }: Pick<KnownIntegration, 'credentials' | 'tenantId'>,
): Promise<string | undefined> {
  return apiKey === null ? undefined : secrets.open(tenantId, apiKey)
}
